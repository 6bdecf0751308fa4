/// Microseconds since 1970-01-01T00:00:00Z. An integer, so that equal moments are equal everywhere and sums don't drift.
public typealias Instant = Int64

extension Instant {
    /// Microseconds in a second.
    public static let second: Instant = 1_000_000

    /// The whole second that holds this instant, rounded down also before 1970 (seconds since 1970).
    public var flooredSecond: Int64 {
        let quotient = self / Instant.second
        return self % Instant.second < 0 ? quotient - 1 : quotient
    }

    /// Length in seconds, when this is a difference of two instants.
    public var seconds: Double { Double(self) / 1_000_000 }
}
