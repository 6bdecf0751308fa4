import HealthModel

/// How often to repeat what others may have missed: soon after a change, then at growing intervals, and rarely when
/// nothing changes. Pure.
///
/// A message about a change is sent at once; repeating it makes up for one that was lost. In a stack at rest, nothing
/// can be lost: repetitions only show that every process is still there, and at the faster pace they would cost more
/// than all its work.
package struct Repetition: Sendable {
    /// The interval while something changes. After that, each interval is as long as all before it together.
    package static let lively = Duration.seconds(1)
    /// The interval at rest.
    package static let quiet = Duration.seconds(12)
    /// A process that has been silent for this long counts as gone: it has missed two intervals, and a little more.
    package static let silence = Duration.seconds(27)
    /// The longest interval after a change, before the one at rest.
    private static let longest = Duration.seconds(4)

    private var movedAt: MonotonicTime

    /// The start of the process counts as a change.
    package init(at now: MonotonicTime) { movedAt = now }

    package mutating func moved(at now: MonotonicTime) { movedAt = now }

    package func interval(at now: MonotonicTime) -> Duration {
        var interval = Self.lively
        while now - movedAt >= interval - Self.lively / 2 {
            guard interval < Self.longest else { return Self.quiet }
            interval *= 2
        }
        return interval
    }

    /// When the next repetition is due. All processes on a machine use the same moments, so that one wake-up serves
    /// them all.
    package func next(after last: MonotonicTime, at now: MonotonicTime) -> MonotonicTime {
        Self.next(interval(at: now), after: last)
    }

    package static func next(_ interval: Duration, after last: MonotonicTime) -> MonotonicTime {
        let interval = interval.microseconds
        return MonotonicTime(microseconds: (last.microseconds / interval + 1) * interval)
    }
}
