import Foundation
import Glibc

/// How long tests wait.
///
/// There is one limit for all of them, and it is a long one: waiting costs nothing when the test passes, and on a busy
/// machine every step has to wait for its turn. A test asks whether something happens, never how soon. A test of speed
/// measures processor time (`processorTime`), or compares two ways of doing the same thing.
package enum Patience {
    package static let seconds = 180.0

    /// When a wait that starts now would time out.
    package static var deadline: ContinuousClock.Instant { ContinuousClock.now + .seconds(seconds) }

    /// The same for `DispatchSemaphore.wait`.
    package static var timeout: DispatchTime { .now() + seconds }

    /// The same for poll(2).
    package static let milliseconds = Int32(seconds * 1000)
}

/// Waits until the condition holds, checking every millisecond; returns false if it still doesn't at the deadline.
///
/// The condition is checked once more after the deadline: a thread that wasn't scheduled for that long may not have
/// seen it become true.
package func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = Patience.deadline
    while true {
        let isLast = ContinuousClock.now > deadline
        if try condition() { return true }
        if isLast { return false }
        usleep(1000)
    }
}

/// The same for code that must not block the concurrency pool.
package func eventually(
    every milliseconds: Int, _ condition: () async throws -> Bool
) async throws -> Bool {
    let deadline = Patience.deadline
    while true {
        let isLast = ContinuousClock.now > deadline
        if try await condition() { return true }
        if isLast { return false }
        try await Task.sleep(for: .milliseconds(milliseconds))
    }
}

/// The processor time that the body costs this thread, which doesn't depend on how busy the machine is.
package func processorTime<Result>(_ body: () throws -> Result) rethrows -> (result: Result, time: Duration) {
    func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let begin = now()
    let result = try body()
    return (result, now() - begin)
}

/// Whether a process is running, neither gone nor a zombie waiting to be reaped.
package func isRunning(_ pid: pid_t) -> Bool {
    guard let stat = FileManager.default.contents(atPath: "/proc/\(pid)/stat"),
        // The state comes after the name, which may contain anything.
        let state = String(decoding: stat, as: UTF8.self).split(separator: ")").last?.split(separator: " ").first
    else { return false }
    return state != "Z" && state != "X"
}
