import ConsolidatorStage
import HealthModel
import Protocol
import StageKit
import TestSupport
import Testing

extension ConsolidatorStageTests {
    /// An unfinished day is published again only after a significant change since it was last published; a final one
    /// after every change.
    @Test func aSmallChangeWakesNobodyUntilTheDayIsFinal() throws {
        let evening = Instant(seconds: 1_743_069_600)
        let rig = try StageRig(now: evening) {
            ConsolidatorStage(
                observer: "observer", handlers: ["steps"], significance: SignificantChange(["steps": 50]))
        }
        try beats(rig, observer: 100, steps: 50)
        let zone = try ZoneTimeline(zone: Self.berlin)
        try answerZones(rig, zone, through: 100)
        let today = zone.day(of: evening)
        var sequence: Int64 = 50
        func published(_ steps: Int) throws -> Int64? {
            try answerFigures(rig, [(today, steps)], through: sequence)
            sequence += 1
            try beats(rig, observer: 100, steps: sequence)
            return try summaries(rig)[today.description]?["steps"].int
        }
        #expect(try published(1000) == 1000)
        rig.sent = []
        #expect(try published(1030) == 1000 && published(1050) == 1000)
        #expect(!rig.sent.contains { $0.topic == "daily.summary" })
        #expect(try published(1051) == 1051)
        let hint = try #require(rig.sent.last { $0.topic == "daily.summary" })
        let change = try #require(hint.body.read(Hint.self)?.changed?.first)
        #expect(change.day == today.number && change.names == ["steps"] && change.final == false)
        #expect(!hint.body.json().contains("1051"))
        #expect(try published(1060) == 1051)
        try rig.pass(.seconds(86_400))
        try answerFigures(rig, [], through: sequence)
        for _ in 0..<2 { try beats(rig, observer: 100, steps: sequence) }
        let day = try #require(try summaries(rig)[today.description])
        #expect(day["final"] == true && day["steps"] == 1060)
    }

    @Test func whatCountsAsSignificant() {
        let rule = SignificantChange(["steps": 50, "distance": 0])
        let before: [String: Value] = ["steps": 1000, "distance": 2.5, "floors": 3, "hours": ["steps": [1]]]
        for (changes, isWorth) in [
            (["steps": 1050], false), (["steps": 949], true), (["distance": 2.51], true), (["floors": 4], true),
            (["hours": ["steps": [2]]], false), (["sleep": 400], true), (["steps": .null], true), ([:], false),
        ] as [([String: Value], Bool)] {
            #expect(rule.isWorthPublishing(before.merging(changes) { $1 }, after: before) == isWorth, "\(changes)")
        }
    }
}
