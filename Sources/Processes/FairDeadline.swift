import Foundation
import Glibc

/// A limit for what other processes do that leaves out the time in which they waited for a processor.
///
/// On a machine that does other work an honest process waits for its turn at every step. A limit by the clock alone would take that for a
/// hang. One that sleeps, hangs, or waits for something else doesn't wait for a processor, so for it the limit is the clock's.
package struct FairDeadline {
    private let limit: Duration
    private let now: () -> Duration
    private let waited: () -> Duration
    private let begin: Duration
    /// How long they had waited when it was first looked at; nil before that.
    private var before: Duration?
    private var given = Duration.zero

    /// It never lasts longer than so many times the limit.
    private static let most = 10

    /// - Parameters:
    ///   - limit: from now on.
    ///   - groups: the processes, each with its process group. The calling thread counts too.
    package init(_ limit: Duration, of groups: some Sequence<pid_t>) {
        let groups = Set(groups)
        let begin = ContinuousClock.now
        self.init(limit, now: { ContinuousClock.now - begin }, waited: { ProcessorWait.total(of: groups) })
    }

    /// - Parameters:
    ///   - now: a clock.
    ///   - waited: for how long in all they have waited.
    package init(_ limit: Duration, now: @escaping () -> Duration, waited: @escaping () -> Duration) {
        self.limit = limit
        self.now = now
        self.waited = waited
        begin = now()
    }

    /// How long to wait before this is asked again; zero or less once the deadline has passed.
    package mutating func left() -> Duration {
        let elapsed = now() - begin
        guard let before else {
            // What is soon done isn't worth the look at all processes.
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
/// Linux counts that by thread (`/proc/<process>/task/<thread>/schedstat`, the second number); where it doesn't, all is 0.
package enum ProcessorWait {
    /// The sum over process groups of what the thread that waited most has waited in each, and the calling thread.
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
        // A process that has just ended has no folder any more.
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { pid_t($0) }
    }

    private static func nanoseconds(_ path: String) -> Int64 {
        guard let data = FileManager.default.contents(atPath: path) else { return 0 }
        let fields = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return fields.count > 1 ? Int64(fields[1]) ?? 0 : 0
    }
}

extension ChildProcess {
    /// Blocks until the child has ended or the deadline has passed; nil when it still runs then.
    package func wait(until deadline: inout FairDeadline) -> ProcessExit? {
        while true {
            let left = deadline.left()
            if let exit = wait(for: max(.zero, left)) { return exit }
            if left <= .zero { return nil }
        }
    }
}
