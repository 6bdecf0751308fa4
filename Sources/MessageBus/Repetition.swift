import HealthModel

/// How often to repeat what others may have missed: every second while something changes and for a while after, but
/// rarely when nothing does. Pure.
///
/// A message about a change is sent at once; repeating it makes up for one that was lost. In a stack at rest, nothing
/// can be lost: repetitions only show that every process is still there, and at the faster pace they would cost more
/// than all its work.
package struct Repetition: Sendable {
    /// The interval while something changes, and for `afterglow` after that.
    package static let lively = Duration.seconds(1)
    /// The interval at rest.
    package static let quiet = Duration.seconds(12)
    /// A process that has been silent for this long counts as gone: it has missed two intervals, and a little more.
    package static let silence = Duration.seconds(27)
    private static let afterglow = Duration.seconds(10)

    private var movedAt: MonotonicTime

    /// The start of the process counts as a change.
    package init(at now: MonotonicTime) { movedAt = now }

    package mutating func moved(at now: MonotonicTime) { movedAt = now }

    package func interval(at now: MonotonicTime) -> Duration {
        now - movedAt < Self.afterglow ? Self.lively : Self.quiet
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
