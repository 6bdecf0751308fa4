import Clocks
import Foundation
import HealthModel
import Protocol

/// The machine resources that this process uses.
package enum ProcessUse {
    /// Resident set in bytes (/proc/self/statm); 0 if it can't be read.
    package static var memory: Int64 {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Int64(fields[1]) ?? 0) * Int64(getpagesize()) : 0
    }

    /// Processor time of all the process's threads since it began, in microseconds.
    package static var processorTime: Int64 {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * Instant.microsecondsPerSecond + Int64(time.tv_nsec) / 1000
    }

    /// When this property was first read, by the wall clock, which is at the first heartbeat.
    package static let started: Instant = WallClock.now

    /// Writes these figures into a heartbeat.
    package static func report(_ beat: inout Heartbeat) {
        beat.memory = memory
        beat.cpu = processorTime
        beat.started = started
    }
}
