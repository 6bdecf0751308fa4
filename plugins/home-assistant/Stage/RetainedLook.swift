/// Whether a broker has sent everything that it has retained for our subscriptions. MQTT has no message that says so:
/// the look is over once all subscriptions are answered and nothing more has come for a moment. Pure.
package struct RetainedLook: Sendable, Equatable {
    private var unanswered: Int
    private let begun: ContinuousClock.Instant
    private var news: ContinuousClock.Instant

    /// How long nothing must have come before the look is over.
    private static let quiet = Duration.seconds(1)
    /// The look is over after this time in any case, even with a broker that doesn't answer.
    private static let longest = Duration.seconds(15)

    package init(filters: Int, at now: ContinuousClock.Instant) {
        unanswered = filters
        (begun, news) = (now, now)
    }

    /// Notes that a subscription was answered.
    package mutating func answered(at now: ContinuousClock.Instant) {
        unanswered -= 1
        news = now
    }

    /// Notes that a retained message has come.
    package mutating func heard(at now: ContinuousClock.Instant) { news = now }

    private var end: ContinuousClock.Instant {
        let last = begun + Self.longest
        return unanswered > 0 ? last : min(last, news + Self.quiet)
    }

    package func isOver(at now: ContinuousClock.Instant) -> Bool { now >= end }

    /// How long to wait before asking again, rounded up.
    package func milliseconds(at now: ContinuousClock.Instant) -> Int32 {
        Int32(max(0, ((end - now) / .milliseconds(1)).rounded(.up)))
    }
}
