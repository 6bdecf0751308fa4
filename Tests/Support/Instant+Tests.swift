import HealthModel

/// Tests say when something is by the microseconds since 1970.
extension Instant: ExpressibleByIntegerLiteral {
    public init(integerLiteral microseconds: Int64) { self.init(microseconds: microseconds) }
}

/// Lengths as tests name them: `3 * hour`.
package func * (count: some BinaryInteger, length: Duration) -> Duration { length * count }
