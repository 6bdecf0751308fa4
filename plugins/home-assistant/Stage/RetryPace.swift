/// How long to wait before the next attempt to connect. Pure.
package struct RetryPace: Sendable {
    private var failures = 0
    private var opened: ContinuousClock.Instant?

    package static let longest = 15.0
    /// Only a connection that lasts this long resets the wait, so a broker that drops every connection is contacted
    /// less and less often.
    package static let lasting = Duration.seconds(60)

    package init() {}

    package mutating func opened(at now: ContinuousClock.Instant) { opened = now }

    /// - Returns: seconds, from 0.25 to `longest`, doubled with each failure and reset once a connection has lasted.
    package mutating func wait(afterLossAt now: ContinuousClock.Instant) -> Double {
        if let opened, now - opened >= Self.lasting { failures = 0 }
        opened = nil
        defer { failures += 1 }
        return min(Self.longest, 0.25 * Double(1 << min(failures, 6)))
    }
}
