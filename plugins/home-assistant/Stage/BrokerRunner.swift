import Client
import Dispatch
import Foundation
import Glibc
import MQTT
import MessageBus
import StageKit

/// Keeps one connection to the broker, on a thread of its own.
package final class BrokerRunner: EffectRunner {
    private let jobs = Mailbox<EffectJob>(capacity: 8)
    private let bell: Bell
    private let ended = DispatchSemaphore(value: 0)
    /// How long a goodbye may take when the process ends.
    private static let goodbye = 3.0

    package init(_ login: BrokerLogin) throws {
        let bell = try Bell()
        self.bell = bell
        Thread.begin("mqtt") { [jobs, ended] in
            BrokerSession(login, jobs, bell).run()
            ended.signal()
        }
    }

    package func perform(_ effect: Effect, reply: @escaping @Sendable (EffectResult) -> Bool) {
        jobs.insist(EffectJob(effect, reply))
        bell.ring()
    }

    /// Says goodbye, so that all sensors are unavailable at once.
    package func stop() {
        jobs.close()
        bell.ring()
        _ = ended.wait(timeout: .now() + Self.goodbye)
    }
}

/// Ends another thread's poll(2).
final class Bell: Sendable {
    let reading: Int32
    private let writing: Int32

    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Problem(description: "pipe: errno \(errno)") }
        (reading, writing) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// If the pipe is full, the bell has already been rung.
    func ring() {
        var byte: UInt8 = 1
        _ = write(writing, &byte, 1)
    }

    func silence() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reading, &bytes, bytes.count) > 0 {}
    }

    /// Waits until it rings, or until the time is up.
    func wait(seconds: Double) {
        var entry = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, Int32(seconds * 1000))
    }
}
