import BackgroundDelivery
import Changelog
import ConsolidatorStage
import HealthModel
import MessageBus
import Protocol
import StageKit
import TestSupport
import Testing

/// The consolidator's task at 00:01.
@Suite struct DailyTaskTests {
    private typealias Rig = StageRig<ConsolidatorStage>
    /// 2025-03-27 11:00 in Berlin.
    private static let day = LocalDay(year: 2025, month: 3, day: 27)

    private func rig() throws -> Rig {
        let rig = try StageRig { ConsolidatorStage(observer: "observer", handlers: ["steps"]) }
        try observer(rig)
        let pull = try #require(rig.pulls.first { $0.name == "zones" })
        try rig.answer(
            pull,
            .pages([
                [
                    "zones": ["me": [[.null, "Europe/Berlin"]]], "from": 0, "through": 10, "head": Value(head(10)),
                ]
            ]))
        return rig
    }

    private func observer(_ rig: Rig, importOpen: Bool = false) throws {
        try rig.hear(beat("observer", head(10), details: ["importOpen": .bool(importOpen)]))
    }

    private func steps(_ rig: Rig) throws {
        try rig.hear(beat("steps", head(0, store: "steps"), frontier: ["observer": 10]))
    }

    private func task(_ rig: Rig) throws -> Value { try rig.report().details["tasks"]?.array?.first ?? .null }

    private let over = Instant(seconds: 1_743_116_460)

    @Test func isSubmittedForTheNextMinutePastMidnight() throws {
        let rig = try rig()
        #expect(try task(rig)["state"] == "pending")
        #expect(try task(rig)["request"]["earliestBegin"] == .integer(over.microseconds))
        try rig.restart()
        #expect(try task(rig)["request"]["earliestBegin"] == .integer(over.microseconds))
    }

    @Test func isDoneOnceAMarkOfItsOwnIsReached() throws {
        let rig = try rig()
        try rig.pass(over - rig.now - .seconds(1))
        #expect(try task(rig)["state"] == "pending")
        try rig.pass(.seconds(1))
        #expect(try task(rig)["state"] == "running")
        // While a file is being read, no mark is taken.
        try observer(rig, importOpen: true)
        try steps(rig)
        #expect(try task(rig)["state"] == "running")
        try observer(rig)
        try steps(rig)
        #expect(try task(rig)["history"]["lastOutcome"] == "succeeded")
        // The next run is for the next day, even when the clocks change.
        #expect(try task(rig)["request"]["earliestBegin"] == .integer((over + .seconds(86_400)).microseconds))
        for _ in 0..<3 {
            try rig.pass(.seconds(86_400))
            try observer(rig)
            try steps(rig)
        }
        #expect(
            try task(rig)["request"]["earliestBegin"] == .integer((over + .seconds(4 * 86_400 - 3600)).microseconds))
    }

    @Test func aDayIsFinalOnceWhateverIsLaunched() throws {
        let rig = try rig()
        try rig.hear(beat("steps", head(5, store: "steps"), frontier: ["observer": 10]))
        let pull = try #require(rig.pulls.first { $0.producer == "steps" })
        let yesterday = Self.day.adding(days: -1)
        let row = KeyedChangelog.Row(
            sequence: 5, key: "figures/me/\(yesterday)", topic: "figures.steps", user: "me", day: yesterday.number,
            body: ["figures": ["steps": 42], "hourly": [:]])
        try rig.answer(
            pull,
            .pages([
                ["rows": [row.wireValue], "from": 0, "through": 5, "head": Value(head(5, store: "steps"))]
            ]))
        for _ in 0..<3 {
            try rig.hear("control.consolidator", ["command": "launch", "task": "consolidated-daily", "force": true])
            try observer(rig)
            try rig.hear(beat("steps", head(5, store: "steps"), frontier: ["observer": 10]))
            #expect(try task(rig)["history"]["lastOutcome"] == "succeeded")
            let summary = try #require(try rig.rows()["day/me/\(yesterday)"]?.body)
            #expect(summary["final"] == true && summary["revision"] == 1)
        }
        #expect(try task(rig)["history"]["runs"] == 3)
    }
}
