import Foundation
import Glibc
import Logging

/// Reads an instance's log line by line, from its oldest line or from now on; when a new log file is begun, it
/// continues with that file.
package struct LogFollower: ~Copyable {
    package let path: String
    private let instance: String
    private var descriptor: Int32 = -1
    private var buffer: [UInt8] = []
    /// Where the next line begins in `buffer`.
    private var at = 0
    private var before = ""

    /// Longer lines are split; none of our writers produces any.
    private static let longestLine = 256 << 10

    package init(path: String, instance: String, fromEnd: Bool) {
        (self.path, self.instance) = (path, instance)
        if fromEnd {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            lseek(descriptor, 0, SEEK_END)
        } else {
            descriptor = open(LogFile.older(path), O_RDONLY | O_CLOEXEC)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The next whole line; nil when there is none yet.
    package mutating func next() -> LogLine? {
        while true {
            if let end = buffer[at...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { at = end + 1 }
                return line(buffer[at..<end])
            }
            guard buffer.count - at < Self.longestLine else {
                defer { at = buffer.count }
                return line(buffer[at...])
            }
            guard fill() || moveOn() else { return nil }
        }
    }

    private mutating func line(_ bytes: ArraySlice<UInt8>) -> LogLine {
        let line = LogLine(String(decoding: bytes, as: UTF8.self), instance: instance, before: before)
        before = line.time
        return line
    }

    /// Reads more of the file into the buffer; returns false at the end of the file.
    private mutating func fill() -> Bool {
        guard descriptor >= 0 else { return false }
        buffer.removeFirst(at)
        at = 0
        let block = [UInt8](unsafeUninitializedCapacity: 64 << 10) { room, count in
            count = max(0, read(descriptor, room.baseAddress, room.count))
        }
        buffer += block
        return !block.isEmpty
    }

    /// Switches to the file that now has the log's name; returns false if that is the file already being read.
    private mutating func moveOn() -> Bool {
        var named = stat()
        var open = stat()
        guard stat(path, &named) == 0 else { return false }
        if descriptor >= 0 {
            guard fstat(descriptor, &open) == 0 else { return false }
            if open.st_ino == named.st_ino, open.st_dev == named.st_dev {
                // The file has been emptied.
                guard named.st_size < lseek(descriptor, 0, SEEK_CUR) else { return false }
                return lseek(descriptor, 0, SEEK_SET) == 0
            }
            // Any lines written between the last check and the renaming come first.
            if fill() { return true }
            close(descriptor)
        }
        descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        return descriptor >= 0
    }
}

/// Several logs as one, ordered by the times of their lines.
package struct MergedLogs: ~Copyable {
    private var followers: [Box] = []

    private final class Box {
        var follower: LogFollower
        var head: LogLine?
        /// This log had no line when last read; it is read again once no other log has one either.
        var isDry = false

        init(_ follower: consuming LogFollower) { self.follower = follower }
    }

    /// - Parameter fromEnd: whether to read only what is written from now on.
    package init(_ logs: [(instance: String, path: String)], fromEnd: Bool) {
        followers = logs.map { Box(LogFollower(path: $0.path, instance: $0.instance, fromEnd: fromEnd)) }
    }

    /// The earliest line that is available and not yet returned; nil when there is none yet.
    package mutating func next() -> LogLine? {
        var first: Box?
        for box in followers {
            if box.head == nil, !box.isDry { box.head = box.follower.next() }
            guard let head = box.head else {
                box.isDry = true
                continue
            }
            if let other = first?.head, other.time <= head.time { continue }
            first = box
        }
        guard let first else {
            for box in followers { box.isDry = false }
            return nil
        }
        defer { first.head = nil }
        return first.head
    }
}

/// Keeps only the newest lines, however many are added.
package struct LastLines {
    private let limit: Int
    private var ring: [LogLine] = []
    /// The index of the oldest line once the ring is full.
    private var oldest = 0

    /// - Parameter limit: how many lines to keep.
    package init(_ limit: Int) { self.limit = limit }

    package mutating func add(_ line: LogLine) {
        guard limit > 0 else { return }
        if ring.count < limit {
            ring.append(line)
        } else {
            ring[oldest] = line
            oldest = (oldest + 1) % limit
        }
    }

    /// In the order in which they were added.
    package var lines: [LogLine] { Array(ring[oldest...] + ring[..<oldest]) }
}
