import HealthModel

/// Tests give times as microseconds or seconds on a clock that only they move.
extension MonotonicTime: ExpressibleByIntegerLiteral {
    package init(integerLiteral microseconds: Int64) { self.init(microseconds: microseconds) }

    package static func seconds(_ seconds: some BinaryInteger) -> MonotonicTime {
        MonotonicTime(microseconds: Int64(seconds) * Instant.microsecondsPerSecond)
    }
}
