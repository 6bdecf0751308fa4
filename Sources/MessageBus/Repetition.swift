import HealthModel

/// How often is said again what others may have missed: each second while it moves and a while after, seldom once it rests. Pure.
///
/// A message that moved something is said at once; repeating it makes up for one that got lost. A stack that rests has nothing to lose: what
/// it says then only shows that everyone is still there, and would cost more than all its work.
package struct Repetition: Sendable {
    /// Between two times while something moves, and for `afterglow` from then on.
    package static let lively = Duration.seconds(1)
    /// Between two times while nothing does.
    package static let quiet = Duration.seconds(7)
    /// Who hasn't been heard for this long isn't there: two times missed, and a little.
    package static let silence = Duration.seconds(17)
    private static let afterglow = Duration.seconds(10)

    private var movedAt: MonotonicTime

    /// The beginning counts as a move.
    package init(at now: MonotonicTime) { movedAt = now }

    package mutating func moved(at now: MonotonicTime) { movedAt = now }

    package func interval(at now: MonotonicTime) -> Duration {
        now - movedAt < Self.afterglow ? Self.lively : Self.quiet
    }

    /// When it is due again. All processes of a machine meet at the same moments, so that one wake-up serves for all.
    package func next(after last: MonotonicTime, at now: MonotonicTime) -> MonotonicTime {
        Self.next(interval(at: now), after: last)
    }

    package static func next(_ interval: Duration, after last: MonotonicTime) -> MonotonicTime {
        let interval = interval.microseconds
        return MonotonicTime(microseconds: (last.microseconds / interval + 1) * interval)
    }
}
