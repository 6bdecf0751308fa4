import Foundation
import HealthModel
import Protocol

/// The time from the end of samples to their arrival at the backend, in buckets that are each a fifth larger than the
/// last. This is enough for a median, in a few hundred bytes, however many samples there are.
///
/// Once more than `memory` samples are counted, all counts are halved, so that recent weeks count for more than past
/// years.
package struct DelayHistogram: Sendable, Equatable {
    /// A sample that had ended longer ago than this when it was delivered is history, and isn't counted as a delay.
    package static let horizon = Duration.seconds(48 * 3600)
    /// The same in microseconds, since every sample is compared with it.
    private static let longest = horizon.microseconds
    static let memory: Int64 = 50_000

    private static let bucketsPerDoubling = 4.0
    /// The first bucket holds everything below this many seconds.
    private static let smallest = 0.01
    private static let bucketCount = Int((log2(48 * 3600 / smallest) * bucketsPerDoubling).rounded(.up)) + 1

    private var counts: [Int64]

    package init() { counts = Array(repeating: 0, count: Self.bucketCount) }

    package var count: Int64 { counts.reduce(0, +) }

    /// Counts a sample that ended at `end` and was accepted at `now`, unless it is history, or ended in the future.
    package mutating func add(end: Instant, acceptedAt now: Instant) {
        let delay = now.microseconds - end.microseconds
        guard (0...Self.longest).contains(delay) else { return }
        let bucket = log2(max(Double(delay) / 1_000_000, Self.smallest) / Self.smallest) * Self.bucketsPerDoubling
        counts[min(Int(bucket), Self.bucketCount - 1)] += 1
    }

    package mutating func fade() {
        guard count > Self.memory else { return }
        for index in counts.indices { counts[index] /= 2 }
    }

    /// The delay in seconds within which a given share of the samples arrived, accurate to a tenth; nil if there are no
    /// samples.
    package func quantile(_ share: Double) -> Double? {
        let total = count
        guard total > 0 else { return nil }
        var seen: Int64 = 0
        for (index, number) in counts.enumerated() {
            seen += number
            if Double(seen) >= share * Double(total) {
                return Self.smallest * pow(2, (Double(index) + 0.5) / Self.bucketsPerDoubling)
            }
        }
        return nil
    }
}

extension DelayHistogram {
    /// The counts without the empty buckets at the end.
    var wireValue: Value {
        .array(counts.prefix((counts.lastIndex { $0 > 0 } ?? -1) + 1).map { .integer($0) })
    }

    init(wireValue value: Value) {
        self.init()
        for (index, count) in (value.array ?? []).compactMap(\.int).prefix(Self.bucketCount).enumerated() {
            counts[index] = count
        }
    }

    var summary: UploaderDetails.Delay {
        UploaderDetails.Delay(count: count, median: quantile(0.5), p95: quantile(0.95))
    }
}
