import Foundation
import HealthModel

/// How long samples took from their end to the backend since this process began, in a few buckets that never fall: as monitoring systems want it, which take the
/// difference of two looks. (`DelayHistogram` is finer, lasts, and forgets.)
package struct DelayBuckets: Sendable, Equatable {
    /// Seconds; what took longer than the last is counted beyond.
    package static let bounds: [Int64] = [1, 5, 15, 60, 300, 900, 3600, 14_400, 43_200, 86_400, 172_800]

    package private(set) var counts = Array(repeating: Int64(0), count: bounds.count + 1)
    /// Seconds.
    package private(set) var sum = 0.0

    package init() {}

    /// Counts a sample that ended at `end`; none that ended in the future.
    package mutating func add(end: Instant, acceptedAt now: Instant) {
        let delay = Double(now.microseconds - end.microseconds) / 1_000_000
        guard delay >= 0 else { return }
        counts[Self.bounds.firstIndex { delay <= Double($0) } ?? Self.bounds.count] += 1
        sum += delay
    }
}
