import HealthModel
import Monitoring
import Protocol
import Testing

@Suite struct MetricDurationsTests {
    private func round(_ number: Int64, _ succeeded: [String: Int64], _ failed: [String: String] = [:]) -> RoundResult {
        RoundResult(
            number: number, reason: "fire", began: Instant(seconds: number), duration: 9_000_000, succeeded: succeeded,
            failed: failed)
    }

    @Test func historyShowsHowLongEachMetricTakes() {
        let found = MetricDurations.of([
            round(1, ["steps": 100_000, "sleep": 2_000_000]), round(2, ["steps": 300_000]),
            round(3, ["steps": 200_000], ["sleep": "not heard"]), round(4, [:], ["energy": "no progress"]),
        ])
        #expect(found["steps"] == MetricDurations(rounds: 3, failed: 0, median: 0.2, p95: 0.3))
        #expect(found["sleep"] == MetricDurations(rounds: 2, failed: 1, median: 2, p95: 2))
        #expect(found["energy"] == MetricDurations(rounds: 1, failed: 1, median: nil, p95: nil))
        #expect(found.count == 3)
    }

    @Test func theSlowTailOfAMetricIsSeen() {
        let rounds = (1...100).map { round(Int64($0), ["steps": Int64($0) * 10_000]) }
        #expect(MetricDurations.of(rounds.reversed())["steps"]?.p95 == 0.95)
        // The nearest rank: of few values, the largest.
        #expect(MetricDurations.of(Array(rounds.prefix(7)))["steps"]?.p95 == 0.07)
        #expect(MetricDurations.of(Array(rounds.prefix(20)))["steps"]?.p95 == 0.19)
    }
}
