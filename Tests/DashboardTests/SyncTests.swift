import DashboardStage
import HealthModel
import Monitoring
import Protocol
import TestSupport
import Testing

/// *Sync now*: who begins one, and what its answer is.
@Suite struct SyncTests {
    @Test func manyPressesAreOneSync() {
        var turns = SyncTurns()
        #expect(turns.enter(with: "a", at: .seconds(100)) == .begin("a"))
        #expect(turns.enter(with: "b", at: .seconds(101)) == .join("a"))
        #expect(turns.enter(with: "c", at: .seconds(120)) == .join("a"))
        // The threads that answer everything else aren't used up.
        #expect(turns.enter(with: "d", at: .seconds(120)) == .later(1))
        turns.leave()
        #expect(turns.enter(with: "e", at: .seconds(121)) == .join("a"))
        for _ in 0..<3 { turns.leave() }
        #expect(turns.enter(with: "f", at: .seconds(121)) == .begin("f"))
    }

    @Test func syncsBeginFiveSecondsApart() {
        var turns = SyncTurns()
        #expect(turns.enter(with: "a", at: .seconds(0)) == .begin("a"))
        turns.leave()
        #expect(turns.enter(with: "b", at: .seconds(1)) == .later(4))
        #expect(turns.enter(with: "b", at: MonotonicTime(microseconds: 4_500_000)) == .later(1))
        #expect(turns.enter(with: "b", at: .seconds(5)) == .begin("b"))
    }

    private func answer(
        _ reported: DebouncerDetails.Manual, now: [String: Instant] = ["steps": Instant(seconds: 1)],
        isLocked: Bool = false
    ) -> SyncAnswer? {
        SyncAnswer(reported, before: ["steps": Instant(seconds: 1)], now: now, isLocked: isLocked)
    }

    private func ended(failed: [String: String] = [:]) -> DebouncerDetails.Manual {
        DebouncerDetails.Manual(
            id: "1", round: 7,
            result: RoundResult(
                number: 7, reason: "sync", began: Instant(seconds: 2), duration: 1, succeeded: ["steps": 1],
                failed: failed))
    }

    @Test func theAnswerSaysWhetherAnythingWasNew() {
        #expect(answer(DebouncerDetails.Manual(id: "1", round: 7, waiting: ["steps"])) == nil)
        #expect(answer(ended())?.result == .noData)
        #expect(answer(ended(), now: ["steps": Instant(seconds: 2)])?.result == .newData)
        // A metric's first samples.
        #expect(
            answer(ended(), now: ["steps": Instant(seconds: 1), "sleep": Instant(seconds: 2)])?.result == .newData)
    }

    @Test func theAnswerSaysWhyNothingCame() {
        let failed = answer(ended(failed: ["sleep": "not heard"]), now: [:])
        #expect(failed?.result == .failed && failed?.failed == ["sleep": "not heard"])
        let reported = DebouncerDetails.Manual(id: "1", problem: "the device is locked")
        #expect(answer(reported, isLocked: true)?.result == .locked)
        let closed = answer(DebouncerDetails.Manual(id: "1", problem: "the app was force-quit"))
        #expect(closed?.result == .failed && closed?.why == "the app was force-quit")
    }

    @Test func theStalestMetricComesFirst() {
        func metric(_ name: String, _ synced: String?) -> MetricFreshness {
            MetricFreshness(metric: name, lastSynced: synced, lastChecked: nil, pending: 0)
        }
        let sorted = MetricFreshness.stalestFirst([
            metric("body", nil), metric("steps", "2026-01-02T10:00:00Z"), metric("sleep", "2025-12-31T10:00:00Z"),
        ])
        #expect(sorted.map(\.metric) == ["sleep", "steps", "body"])
    }
}
