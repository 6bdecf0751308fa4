import Foundation
import Glibc

/// A limit for what other processes do that leaves out the time in which they waited for a processor.
///
/// On a machine that does other work an honest process waits for its turn at every step. A limit by the clock alone would take that for a
/// hang. One that sleeps, hangs, or waits for something else never waits for a processor, so for it the limit is the clock's. Linux counts
/// the waiting by thread (`/proc/<process>/task/<thread>/schedstat`, the second number); where it doesn't, the clock alone counts.
public struct FairDeadline {
    private let begin = ContinuousClock.now
    private let limit: Duration
    private let groups: Set<pid_t>
    /// How long they had waited when it was first looked at; nil before that.
    private var before: Duration?
    private var given = Duration.zero

    /// It never lasts longer than so many times the limit.
    private static let most = 10

    /// - Parameters:
    ///   - limit: from now on.
    ///   - groups: the processes, each with its process group. The calling thread counts too.
    public init(_ limit: Duration, of groups: some Sequence<pid_t>) {
        self.limit = limit
        self.groups = Set(groups)
    }

    /// How long to wait before this is asked again; zero or less once the deadline has passed.
    public mutating func left() -> Duration {
        let elapsed = ContinuousClock.now - begin
        guard let before else {
            // What is soon done isn't worth a look at /proc.
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

    /// Over all groups, how long the busiest thread of each has been ready to run without a processor.
    private func waited() -> Duration {
        var byGroup: [pid_t: UInt64] = [:]
        for pid in Self.numbers(in: "/proc") {
            guard let group = Self.group(of: pid), groups.contains(group) else { continue }
            for thread in Self.numbers(in: "/proc/\(pid)/task") {
                let time = Self.waited("/proc/\(pid)/task/\(thread)/schedstat")
                byGroup[group] = max(byGroup[group] ?? 0, time)
            }
        }
        let own = Self.waited("/proc/thread-self/schedstat")
        return .nanoseconds(Int64(clamping: byGroup.values.reduce(own) { $0.addingReportingOverflow($1).partialValue }))
    }

    private static func numbers(in folder: String) -> [pid_t] {
        // A process that has just ended has no folder any more.
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { pid_t($0) }
    }

    private static func group(of pid: pid_t) -> pid_t? {
        let group = getpgid(pid)
        return group > 0 ? group : nil
    }

    /// Nanoseconds; 0 where the kernel doesn't say.
    private static func waited(_ path: String) -> UInt64 {
        guard let data = FileManager.default.contents(atPath: path) else { return 0 }
        let fields = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return fields.count > 1 ? UInt64(fields[1]) ?? 0 : 0
    }
}

extension ChildProcess {
    /// Blocks until the child has ended or the deadline has passed; nil when it still runs then.
    public func wait(until deadline: inout FairDeadline) -> ProcessExit? {
        while true {
            let left = deadline.left()
            if let exit = wait(for: max(.zero, left)) { return exit }
            if left <= .zero { return nil }
        }
    }
}
