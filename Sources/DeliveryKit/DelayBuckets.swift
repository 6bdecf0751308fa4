import Foundation
import HealthModel

/// The time from the end of samples to their arrival at the backend, since this process began, in a few buckets whose
/// counts never fall. Monitoring systems want this form, since they take the difference between two readings.
/// (`DelayHistogram` is finer, survives restarts, and forgets.)
package struct DelayBuckets: Sendable, Equatable {
    /// Upper bounds in seconds; anything that took longer than the last one is counted in a further bucket.
    package static let bounds: [Int64] = [1, 5, 15, 60, 300, 900, 3600, 14_400, 43_200, 86_400, 172_800]

    package private(set) var counts = Array(repeating: Int64(0), count: bounds.count + 1)
    /// In seconds.
    package private(set) var sum = 0.0

    package init() {}

    /// Counts a sample that ended at `end`, unless that is in the future.
    package mutating func add(end: Instant, acceptedAt now: Instant) {
        let delay = Double(now.microseconds - end.microseconds) / 1_000_000
        guard delay >= 0 else { return }
        counts[Self.bounds.firstIndex { delay <= Double($0) } ?? Self.bounds.count] += 1
        sum += delay
    }
}
