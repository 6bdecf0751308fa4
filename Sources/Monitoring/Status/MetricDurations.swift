import HealthModel
import Protocol

/// How long each metric's syncs take: by consumer, over the stored rounds. Pure.
package struct MetricDurations: Codable, Sendable, Equatable {
    /// Rounds that the metric was part of.
    package var rounds: Int
    package var failed: Int
    /// In seconds, over the rounds that succeeded; nil if no round did.
    @OrNull package var median: Double?
    @OrNull package var p95: Double?

    package init(rounds: Int, failed: Int, median: Double?, p95: Double?) {
        (self.rounds, self.failed, self.median, self.p95) = (rounds, failed, median, p95)
    }

    /// By consumer: a metric's handler, or a destination.
    package static func of(_ rounds: [RoundResult]) -> [String: MetricDurations] {
        var times: [String: [Int64]] = [:]
        var failures: [String: Int] = [:]
        for round in rounds {
            for (consumer, time) in round.succeeded { times[consumer, default: []].append(time) }
            for consumer in round.failed.keys { failures[consumer, default: 0] += 1 }
        }
        let consumers = Set(times.keys).union(failures.keys)
        return Dictionary(
            uniqueKeysWithValues: consumers.map { consumer in
                let sorted = (times[consumer] ?? []).sorted()
                let failed = failures[consumer] ?? 0
                return (
                    consumer,
                    MetricDurations(
                        rounds: sorted.count + failed, failed: failed, median: percentile(50, of: sorted),
                        p95: percentile(95, of: sorted))
                )
            })
    }

    /// By the nearest rank: the smallest value that isn't exceeded by at least that share of all.
    /// - Parameters:
    ///   - percent: 1 to 100.
    ///   - sorted: microseconds.
    /// - Returns: seconds; nil if the list is empty.
    static func percentile(_ percent: Int, of sorted: [Int64]) -> Double? {
        sorted.isEmpty ? nil : Duration.microseconds(sorted[(sorted.count * percent + 99) / 100 - 1]).seconds
    }
}
