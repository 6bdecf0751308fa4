import Changelog
import ConsolidatorStage
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing

/// A summary contains the hours of its day, by that day's clock.
@Suite struct ConsolidatorHoursTests {
    /// The clock goes from 02:00 to 03:00.
    private static let day = LocalDay(year: 2025, month: 3, day: 30)

    private func rig() throws -> StageRig<ConsolidatorStage> {
        // The clock is set to a few days after the tested day.
        try StageRig(now: Instant(seconds: 1_743_600_000)) {
            ConsolidatorStage(observer: "observer", handlers: ["steps", "walks"])
        }
    }

    private func answerZones(_ rig: StageRig<ConsolidatorStage>) throws {
        try rig.hear(beat("observer", head(100), details: ["importOpen": false]))
        let pull = try #require(rig.pulls.first { $0.name == "zones" })
        let page: Value = [
            "zones": ["me": try ZoneTimeline(zone: "Europe/Berlin").wireValue], "from": 0, "through": 100,
            "head": Value(head(100)),
        ]
        try rig.answer(pull, .pages([page]))
    }

    private func answer(
        _ rig: StageRig<ConsolidatorStage>, _ handler: String, _ figures: Value, hourly: Value, at sequence: Int64
    ) throws {
        try rig.hear(beat(handler, head(sequence, store: handler), frontier: ["observer": 100]))
        let pull = try #require(rig.pulls.last { $0.producer == handler })
        let row: Value = [
            "seq": .integer(sequence), "key": .string("figures/me/\(Self.day)"), "topic": .string("figures.\(handler)"),
            "user": "me", "day": .integer(Int64(Self.day.number)), "deleted": false,
            "body": ["figures": figures, "hourly": hourly],
        ]
        let page: Value = [
            "rows": [row], "from": pull.query["after"] ?? 0, "through": .integer(sequence),
            "head": Value(head(sequence, store: handler)),
        ]
        try rig.answer(pull, .pages([page]))
    }

    private func summary(_ rig: StageRig<ConsolidatorStage>) throws -> (body: Value, sequence: Int64) {
        let row = try #require(try rig.rows()["day/me/\(Self.day)"])
        return (try #require(row.body), row.sequence.value)
    }

    private static func list(_ count: Int, first: Value) -> Value {
        .array([first] + Array(repeating: .null, count: count - 1))
    }

    @Test func hoursStandUnderTheirStarts() throws {
        let rig = try rig()
        try answerZones(rig)
        try answer(
            rig, "steps", ["steps": 5], hourly: ["steps": Self.list(23, first: 5), "start": Self.list(23, first: 1)],
            at: 10)
        // If two handlers use the same name, the first one's list counts; a list of 24 hours doesn't fit a day of this
        // length.
        try answer(
            rig, "walks", ["walks": 1], hourly: ["steps": Self.list(23, first: 7), "walks": Self.list(24, first: 1)],
            at: 10)
        let hours = try summary(rig).body["hours"]
        let starts = try #require(hours["start"].array)
        #expect(starts.count == 23)
        #expect(starts[0] == "2025-03-30T00:00:00+01:00")
        #expect(starts[1] == "2025-03-30T01:00:00+01:00" && starts[2] == "2025-03-30T03:00:00+02:00")
        #expect(hours["steps"] == Self.list(23, first: 5) && hours["walks"].isNull)
    }

    /// If only the hours change, the day gets a new version, but not a new revision.
    @Test func changedHoursAreNoRevision() throws {
        let rig = try rig()
        try answerZones(rig)
        try answer(rig, "walks", ["walks": 1], hourly: [:], at: 10)
        try answer(rig, "steps", ["steps": 5], hourly: ["steps": Self.list(23, first: 5)], at: 10)
        try rig.hear(beat("observer", head(100), details: ["importOpen": false]))
        let before = try summary(rig)
        #expect(before.body["final"] == true && before.body["revision"] == 1)
        try answer(rig, "steps", ["steps": 5], hourly: ["steps": Self.list(23, first: 4)], at: 11)
        let after = try summary(rig)
        #expect(after.sequence > before.sequence && after.body["final"] == true && after.body["revision"] == 1)
        #expect(after.body["hours"]["steps"].array?.first == 4)
    }

    /// For a file from a release that kept no hours, every handler is read again, and no day is revised.
    @Test func anEarlierReleasesFileGetsItsHours() throws {
        let rig = try rig()
        try answerZones(rig)
        try answer(rig, "walks", ["walks": 1], hourly: [:], at: 10)
        try answer(rig, "steps", ["steps": 5], hourly: ["steps": Self.list(23, first: 5)], at: 10)
        try rig.hear(beat("observer", head(100), details: ["importOpen": false]))
        try rig.turn { try $0.write().database.execute("ALTER TABLE parts DROP COLUMN hourly") }
        try rig.restart()
        #expect(rig.log.fields(of: .anchorReset).isEmpty)
        try answer(rig, "steps", ["steps": 5], hourly: ["steps": Self.list(23, first: 5)], at: 10)
        let day = try summary(rig).body
        #expect(day["hours"]["steps"].array?.first == 5 && day["revision"] == 1 && day["final"] == true)
    }
}
