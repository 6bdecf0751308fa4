import HealthModel

/// How often is said again what others may have missed: each second while it moves and a while after, seldom once it rests. Pure.
///
/// A message that moved something is said at once; repeating it makes up for one that got lost. A stack that rests has nothing to lose: what
/// it says then only shows that everyone is still there, and would cost more than all its work.
package struct Repetition: Sendable {
    /// Between two times while something moves, and for `afterglow` from then on.
    package static let lively = Instant.second
    /// Between two times while nothing does.
    package static let quiet = 5 * Instant.second
    /// Who hasn't been heard for this long isn't there: two times missed, and a little.
    package static let silence = 12 * Instant.second
    private static let afterglow = 10 * Instant.second

    private var movedAt: Instant

    /// - Parameter now: monotonic, as all times here; beginning is a move.
    package init(at now: Instant) { movedAt = now }

    package mutating func moved(at now: Instant) { movedAt = now }

    package func interval(at now: Instant) -> Instant {
        now - movedAt < Self.afterglow ? Self.lively : Self.quiet
    }

    /// When it is due again. All processes of a machine meet at the same moments, so that one wake-up serves for all.
    package func next(after last: Instant, at now: Instant) -> Instant { Self.next(interval(at: now), after: last) }

    package static func next(_ interval: Instant, after last: Instant) -> Instant { (last / interval + 1) * interval }
}
