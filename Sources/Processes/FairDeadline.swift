import Foundation
import Glibc

/// A time limit for other processes that doesn't count the time that they spent waiting for a processor.
///
/// On a busy machine even a healthy process waits for its turn at every step. A limit by the clock alone would mistake
/// this for a hang. A process that sleeps, hangs, or waits for something else isn't waiting for a processor, so its
/// limit is the time on the clock.
package struct FairDeadline {
    private let limit: Duration
    private let now: () -> Duration
    private let waited: () -> Duration
    private let begin: Duration
    /// How long the processes had waited once a tenth of the limit had passed; nil before that.
    private var before: Duration?
    private var given = Duration.zero

    /// The deadline never extends beyond this many times the limit.
    private static let most = 10

    /// - Parameters:
    ///   - limit: the time allowed, starting now.
    ///   - groups: the process groups whose waits extend the deadline. The calling thread's waits count too.
    package init(_ limit: Duration, of groups: some Sequence<pid_t>) {
        let groups = Set(groups)
        let begin = ContinuousClock.now
        self.init(limit, now: { ContinuousClock.now - begin }, waited: { ProcessorWait.total(of: groups) })
    }

    /// - Parameters:
    ///   - now: a clock.
    ///   - waited: how long these groups have waited in total.
    package init(_ limit: Duration, now: @escaping () -> Duration, waited: @escaping () -> Duration) {
        (self.limit, self.now, self.waited) = (limit, now, waited)
        begin = now()
    }

    /// How long to wait before checking again; zero or less once the deadline has passed.
    package mutating func left() -> Duration {
        let elapsed = now() - begin
        guard let before else {
            // Examining all processes isn't worthwhile for something that takes only a moment.
            let look = limit / 10
            guard elapsed >= look else { return look - elapsed }
            before = waited()
            return max(limit - elapsed, .nanoseconds(1))
        }
        let left = limit + given - elapsed
        guard left <= .zero else { return left }
        given = min(max(given, waited() - before), limit * (Self.most - 1))
        return limit + given - elapsed
    }
}

/// How long processes have been ready to run without getting a processor.
///
/// Linux counts this for each thread (`/proc/<process>/task/<thread>/schedstat`, the second number); where it doesn't,
/// everything is 0.
package enum ProcessorWait {
    /// The sum, over the process groups, of the longest wait of any of a group's threads, plus that of the calling
    /// thread.
    package static func total(of groups: Set<pid_t>) -> Duration {
        var byGroup: [pid_t: Int64] = [:]
        for pid in numbers(in: "/proc") {
            let group = getpgid(pid)
            guard groups.contains(group) else { continue }
            for thread in numbers(in: "/proc/\(pid)/task") {
                byGroup[group] = max(byGroup[group] ?? 0, nanoseconds("/proc/\(pid)/task/\(thread)/schedstat"))
            }
        }
        return .nanoseconds(byGroup.values.reduce(nanoseconds("/proc/thread-self/schedstat"), +))
    }

    private static func numbers(in folder: String) -> [pid_t] {
        // A process that has just ended no longer has a folder.
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { pid_t($0) }
    }

    private static func nanoseconds(_ path: String) -> Int64 {
        guard let data = FileManager.default.contents(atPath: path) else { return 0 }
        let fields = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return fields.count > 1 ? Int64(fields[1]) ?? 0 : 0
    }
}

extension ChildProcess {
    /// Blocks until the child has ended or the deadline has passed; nil if it is still running.
    package func wait(until deadline: inout FairDeadline) -> ProcessExit? {
        while true {
            let left = deadline.left()
            if let exit = wait(for: max(.zero, left)) { return exit }
            if left <= .zero { return nil }
        }
    }
}
