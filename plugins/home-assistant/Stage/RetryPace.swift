import HealthModel

/// How long to wait before the next attempt to connect. Pure.
package struct RetryPace: Sendable {
    /// Seconds.
    private var backOff = BackOff(0.25, upTo: 15)
    private var opened: ContinuousClock.Instant?

    /// Only a connection that lasts this long resets the wait, so a broker that drops every connection is contacted
    /// less and less often.
    package static let lasting = Duration.seconds(60)

    package init() {}

    package mutating func opened(at now: ContinuousClock.Instant) { opened = now }

    package mutating func wait(afterLossAt now: ContinuousClock.Instant) -> Double {
        if let opened, now - opened >= Self.lasting { backOff.failures = 0 }
        opened = nil
        return backOff.next()
    }
}
