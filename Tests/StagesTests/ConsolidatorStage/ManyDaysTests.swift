import ConsolidatorStage
import HealthModel
import Protocol
import StageKit
import TestSupport
import Testing

/// Thousands of days become final over several turns.
@Suite struct ManyDaysTests {
    private let days = ConsolidatorStageTests()
    private static let count = 1500

    private func all() -> [(LocalDay, Int)] {
        (0..<Self.count).map { (LocalDay(year: 2020, month: 1, day: 1).adding(days: $0), 1000 + $0) }
    }

    private func finals(_ rig: StageRig<ConsolidatorStage>) throws -> [String: Int64] {
        try days.summaries(rig).compactMapValues { $0["final"] == true ? $0["revision"].int : nil }
    }

    /// All figures are there, and the mark covers them.
    private func reached() throws -> StageRig<ConsolidatorStage> {
        let rig = try days.rig()
        try days.beats(rig, observer: 100, steps: 2000)
        try days.answerZones(rig, try ZoneTimeline(zone: ConsolidatorStageTests.berlin), through: 100)
        try days.answerFigures(rig, all(), through: 2000)
        return rig
    }

    @Test func theNewestAreFinalFirst() throws {
        let rig = try reached()
        let first = try finals(rig)
        #expect(!first.isEmpty && first.count < Self.count)
        #expect(first.keys.min().map { $0 > "2023-05-01" } == true && first["2024-02-08"] == 1)
        #expect(try rig.report().frontier["observer"] ?? 0 < 100, "what isn't written isn't claimed")
        try rig.finishTurns()
        #expect(try finals(rig).count == Self.count)
        #expect(try rig.report().frontier["observer"] == 100)
    }

    @Test func aCrashInBetweenLosesNoDay() throws {
        let rig = try reached()
        try rig.restart()
        try days.beats(rig, observer: 100, steps: 2000)
        try rig.finishTurns()
        let final = try finals(rig)
        #expect(final.count == Self.count && final.values.allSatisfy { $0 == 1 })
    }

    /// The day was computed from samples other than those that the mark covers.
    @Test func aDayThatChangesMeanwhileWaitsForTheNextMark() throws {
        let rig = try reached()
        let late = LocalDay(year: 2020, month: 1, day: 2)
        #expect(try finals(rig)["2020-01-02"] == nil)
        try days.beats(rig, observer: 110, steps: 2001)
        try days.answerFigures(rig, [(late, 7)], through: 2001)
        try rig.finishTurns()
        #expect(try finals(rig)["2020-01-02"] == nil, "the zones up to there aren't known yet")
        try days.answerZones(rig, try ZoneTimeline(zone: ConsolidatorStageTests.berlin), through: 110)
        try days.beats(rig, observer: 110, steps: 2001)
        try rig.finishTurns()
        let final = try finals(rig)
        #expect(final.count == Self.count && final["2020-01-02"] == 1, "once, with what came late")
        #expect(try days.summaries(rig)["2020-01-02"]?["steps"] == 7)
    }
}
