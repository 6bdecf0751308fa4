import HealthModel

/// Tests give times as microseconds since 1970.
extension Instant: ExpressibleByIntegerLiteral {
    public init(integerLiteral microseconds: Int64) { self.init(microseconds: microseconds) }
}

/// Durations as tests write them: `3 * hour`.
package func * (count: some BinaryInteger, length: Duration) -> Duration { length * count }
