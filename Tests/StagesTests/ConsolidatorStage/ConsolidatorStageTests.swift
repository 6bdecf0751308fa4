import Changelog
import ConsolidatorStage
import HealthModel
import MessageBus
import Protocol
import StageKit
import TestSupport
import Testing

@Suite struct ConsolidatorStageTests {
    static let berlin = "Europe/Berlin"
    static let first = LocalDay(year: 2025, month: 3, day: 10)

    /// One handler, "steps"; the clock is set to a time after all the days.
    func rig() throws -> StageRig<ConsolidatorStage> {
        try StageRig { ConsolidatorStage(observer: "observer", handlers: ["steps"]) }
    }

    /// Heartbeats of the observer, and of a handler that has consumed all of the observer's changes.
    func beats(_ rig: StageRig<ConsolidatorStage>, observer: Int64, steps: Int64) throws {
        try rig.hear(
            beat(
                "steps", head(steps, store: "s"), frontier: ["observer": SequenceNumber(observer)]))
        try hearObserver(rig, observer)
    }

    private func hearObserver(_ rig: StageRig<ConsolidatorStage>, _ sequence: Int64) throws {
        try rig.hear(beat("observer", head(sequence), details: ["importOpen": false]))
    }

    func answerZones(_ rig: StageRig<ConsolidatorStage>, _ zones: ZoneTimeline, through: Int64) throws {
        let pull = try #require(rig.pulls.first { $0.name == "zones" })
        try rig.answer(
            pull,
            .pages([
                [
                    "zones": ["me": zones.wireValue], "from": pull.query["after"] ?? 0, "through": .integer(through),
                    "head": Value(head(through)),
                ]
            ]))
    }

    /// The handler answers with figures for several days, one row each.
    func answerFigures(
        _ rig: StageRig<ConsolidatorStage>, _ figures: [(LocalDay, Int)], through: Int64
    ) throws {
        let pull = try #require(rig.pulls.first { $0.name == "changes" })
        let rows = figures.enumerated().map { index, figure in
            Value.object([
                "seq": .integer(through - Int64(figures.count - 1 - index)), "key": .string("figures/me/\(figure.0)"),
                "topic": "figures.steps", "user": "me", "day": .integer(Int64(figure.0.number)), "deleted": false,
                "body": ["figures": ["steps": .integer(Int64(figure.1))], "hourly": [:]],
            ])
        }
        try rig.answer(
            pull,
            .pages([
                [
                    "rows": .array(rows), "from": pull.query["after"] ?? 0, "through": .integer(through),
                    "head": Value(head(through, store: "s")),
                ]
            ]))
    }

    func summaries(_ rig: StageRig<ConsolidatorStage>) throws -> [String: Value] {
        Dictionary(
            uniqueKeysWithValues: try rig.rows().values.compactMap { row in
                row.body.map { ($0["date"].string ?? "", $0) }
            })
    }

    /// Ten days, all final.
    private func settled() throws -> StageRig<ConsolidatorStage> {
        let rig = try rig()
        try beats(rig, observer: 100, steps: 50)
        try answerZones(rig, try ZoneTimeline(zone: Self.berlin), through: 100)
        try answerFigures(rig, (0..<10).map { (Self.first.adding(days: $0), 1000 + $0) }, through: 50)
        try beats(rig, observer: 100, steps: 50)
        return rig
    }

    /// Two handlers use the same name; one uses a name that belongs to the summary itself. The first one's figure
    /// stays, and the log and heartbeat say what is left out.
    @Test func aFigureWhoseNameIsTakenIsReported() throws {
        let rig = try StageRig { ConsolidatorStage(observer: "observer", handlers: ["walks", "steps"]) }
        func answer(_ handler: String, _ figures: Value, at sequence: Int64) throws {
            try rig.hear(beat(handler, head(sequence, store: handler), frontier: ["observer": 100]))
            let pull = try #require(rig.pulls.last { $0.producer == handler })
            let row: Value = [
                "seq": .integer(sequence), "key": .string("figures/me/\(Self.first)"),
                "topic": .string("figures.\(handler)"),
                "user": "me", "day": .integer(Int64(Self.first.number)), "deleted": false,
                "body": ["figures": figures, "hourly": [:]],
            ]
            let page: Value = [
                "rows": [row], "from": pull.query["after"] ?? 0, "through": .integer(sequence),
                "head": Value(head(sequence, store: handler)),
            ]
            try rig.answer(pull, .pages([page]))
        }
        try answer("walks", ["steps": 1, "walks": 2, "date": "never"], at: 10)
        try answer("steps", ["steps": 1000], at: 10)
        let day = try #require(try summaries(rig)["2025-03-10"])
        #expect(day["steps"] == 1000 && day["walks"] == 2)
        let own: Value = ["figure": "date", "handler": "walks", "taken": .null]
        let other: Value = ["figure": "steps", "handler": "walks", "taken": "steps"]
        #expect(try rig.report().details["collisions"] == [own, other])
        // Each is reported once, no matter how many days are affected.
        try answer("steps", ["steps": 1001], at: 11)
        #expect(rig.log.fields(of: .figureCollides).count == 2)
        try rig.restart()
        #expect(try rig.report().details["collisions"] == [own, other])
        // A plugin that uses different names resolves the conflict.
        try answer("walks", ["walks": 2], at: 12)
        #expect(try rig.report().details["collisions"] == nil)
    }

    @Test func itsFrontierWaitsForTheZones() throws {
        let rig = try rig()
        try beats(rig, observer: 100, steps: 50)
        try answerFigures(rig, [(Self.first, 7)], through: 50)
        // All figures have arrived, but not the zones that decide when days end: nothing may count as done.
        #expect(try rig.report().frontier["observer"] ?? 0 < 100)
        #expect(try summaries(rig)["2025-03-10"]?["final"] == false)
        try answerZones(rig, try ZoneTimeline(zone: Self.berlin), through: 100)
        #expect(try rig.report().frontier["observer"] == 100)
        try beats(rig, observer: 100, steps: 50)
        let day = try #require(try summaries(rig)["2025-03-10"])
        #expect(day["final"] == true && day["zone"] == .string(Self.berlin))
    }

    /// The days of a first import: each is written once, with the figures of all handlers, and immediately final.
    @Test func aDayThatIsOverIsWrittenOnceItHasSettled() throws {
        let rig = try StageRig { ConsolidatorStage(observer: "observer", handlers: ["steps", "walks"]) }
        func page(_ handler: String, _ frontier: SequenceNumber, through: Int64) throws {
            try rig.hear(beat(handler, head(through, store: handler), frontier: ["observer": frontier]))
            let pull = try #require(rig.pulls.last { $0.producer == handler })
            let row: Value = [
                "seq": .integer(through), "key": .string("figures/me/\(Self.first)"),
                "topic": .string("figures.\(handler)"), "user": "me", "day": .integer(Int64(Self.first.number)),
                "deleted": false, "body": ["figures": [handler: .integer(through)], "hourly": [:]],
            ]
            try rig.answer(
                pull,
                .pages([
                    [
                        "rows": [row], "from": pull.query["after"] ?? 0, "through": .integer(through),
                        "head": Value(head(through, store: handler)),
                    ]
                ]))
        }
        try hearObserver(rig, 100)
        try answerZones(rig, try ZoneTimeline(zone: Self.berlin), through: 100)
        try page("steps", 100, through: 5)
        // Nothing is reported about the day, and nothing counts as done.
        #expect(try summaries(rig).isEmpty && rig.report().frontier["observer"] ?? 0 < 100)
        try rig.restart()
        try rig.turn()
        #expect(try summaries(rig)["2025-03-10"]?["steps"] == 5, "what waited outlives a crash")
        try hearObserver(rig, 100)
        try page("walks", 100, through: 7)
        try rig.hear(beat("steps", head(5, store: "steps"), frontier: ["observer": 100]))
        let day = try #require(try summaries(rig)["2025-03-10"])
        #expect(day["steps"] == 5 && day["walks"] == 7 && day["final"] == true && day["revision"] == 1)
        #expect(try rig.report().frontier["observer"] == 100)
    }

    /// The frontier covers nothing that is held back.
    @Test func theFrontierSaysNothingOfDaysThatAreHeldBack() throws {
        let rig = try rig()
        try rig.hear(beat("observer", head(100), details: ["importOpen": true]))
        try answerZones(rig, try ZoneTimeline(zone: Self.berlin), through: 100)
        try rig.hear(beat("steps", head(50, store: "s"), frontier: ["observer": 100]))
        try answerFigures(rig, [(Self.first, 7)], through: 50)
        #expect(try summaries(rig).isEmpty && rig.report().frontier["observer"] ?? 0 < 100)
        try rig.pass(.seconds(2))
        #expect(try summaries(rig).count == 1 && rig.report().frontier["observer"] == 100)
    }

    /// A handler that is stuck doesn't hold a day back for long.
    @Test func aDayIsNotHeldForAHandlerThatIsSlow() throws {
        let rig = try StageRig { ConsolidatorStage(observer: "observer", handlers: ["steps", "walks"]) }
        try hearObserver(rig, 100)
        try answerZones(rig, try ZoneTimeline(zone: Self.berlin), through: 100)
        try rig.hear(beat("steps", head(50, store: "s"), frontier: ["observer": 100]))
        try answerFigures(rig, [(Self.first, 7)], through: 50)
        #expect(try summaries(rig).isEmpty)
        try rig.pass(.seconds(2))
        let day = try #require(try summaries(rig)["2025-03-10"])
        #expect(day["steps"] == 7 && day["final"] == false)
    }

    /// While handlers work through years of data, days aren't rewritten every two seconds.
    @Test func whoeverWaitsForSlowHandlersBecomesPatient() throws {
        let rig = try StageRig { ConsolidatorStage(observer: "observer", handlers: ["steps", "walks"]) }
        try rig.hear(beat("observer", head(100), details: ["importOpen": true]))
        try answerZones(rig, try ZoneTimeline(zone: Self.berlin), through: 100)
        func figures(_ number: Int) throws {
            let through = Int64(50 + number)
            try rig.hear(beat("steps", head(through, store: "s"), frontier: ["observer": 100]))
            try answerFigures(rig, [(Self.first, number)], through: through)
        }
        var waits: [Int] = []
        for round in 1...4 {
            try figures(round)
            var seconds = 0
            while try summaries(rig)["2025-03-10"]?["steps"] != .integer(Int64(round)), seconds < 100 {
                try rig.pass(.seconds(1))
                seconds += 1
            }
            waits.append(seconds)
        }
        #expect(waits == [2, 4, 8, 16])
    }

    /// The input that the observer reports may include a flight: a day that is over by the zones known here may not be
    /// over by the new ones.
    @Test func aMarkWaitsForTheZones() throws {
        let rig = try settled()
        let yesterday = LocalDay(year: 2025, month: 3, day: 26)
        try rig.hear(beat("steps", head(51, store: "s"), frontier: ["observer": 110]))
        try answerFigures(rig, [(yesterday, 7)], through: 51)
        // The handler has consumed everything, and the consolidator all of the handler's outputs; the zones haven't
        // arrived yet.
        try beats(rig, observer: 110, steps: 51)
        #expect(rig.pulls.contains { $0.name == "zones" })
        #expect(try summaries(rig)["2025-03-26"]?["final"] != true)
        // In this person's current zone it is still the evening of that day.
        try answerZones(rig, try ZoneTimeline(zone: "Etc/GMT+12"), through: 110)
        try beats(rig, observer: 110, steps: 51)
        let day = try #require(try summaries(rig)["2025-03-26"])
        #expect(day["final"] == false && day["revision"] == 0)
    }

    /// If a handler's store is lost, its days stay until the new store has been read completely; days that the new
    /// store lacks are then removed.
    @Test func whatAResetDoesNotShowAgainIsGone() throws {
        let rig = try settled()
        let fresh = head(20, store: "new")
        try rig.hear(beat("steps", fresh, frontier: ["observer": 100]))
        try rig.answer(try #require(rig.pulls.last { $0.producer == "steps" }), .reset(fresh))
        try rig.hear(beat("steps", fresh, frontier: ["observer": 100]))
        for (through, days, left) in [(10, 0..<5, 10), (20, 5..<9, 9)] {
            let pull = try #require(rig.pulls.last { $0.producer == "steps" })
            let rows = days.map { number in
                let day = Self.first.adding(days: number)
                return Value.object([
                    "seq": .integer(Int64(through - 9 + number)), "key": .string("figures/me/\(day)"),
                    "topic": "figures.steps", "user": "me", "day": .integer(Int64(day.number)), "deleted": false,
                    "body": ["figures": ["steps": .integer(Int64(1000 + number))], "hourly": [:]],
                ])
            }
            let page: Value = [
                "rows": .array(rows), "from": pull.query["after"] ?? 0, "through": .integer(Int64(through)),
                "head": Value(fresh),
            ]
            try rig.answer(pull, .pages([page]))
            #expect(try summaries(rig).count == left)
        }
        #expect(try summaries(rig)["2025-03-19"] == nil)
    }

    /// A stay from noon on the 13th to noon on the 15th changes three days, however many days follow.
    @Test func aChangedTimelineReopensExactlyTheDaysWhoseInstantsChange() throws {
        let rig = try settled()
        let before = try rig.rows().mapValues(\.sequence)
        #expect(try summaries(rig).values.allSatisfy { $0["final"] == true && $0["revision"] == 1 })
        let noon = { (day: Int) throws -> Instant in
            try #require(InstantText.parse("2025-03-\(day)T12:00:00+01:00"))
        }
        let stay = try ZoneTimeline([
            .init(from: .distantPast, zone: Self.berlin), .init(from: noon(13), zone: "America/New_York"),
            .init(from: noon(15), zone: Self.berlin),
        ])
        try hearObserver(rig, 110)
        try answerZones(rig, stay, through: 110)
        let open = try summaries(rig).filter { $0.value["final"] == false }
        #expect(Set(open.keys) == ["2025-03-13", "2025-03-14", "2025-03-15"])
        let moved = try rig.rows().filter { $0.value.sequence != before[$0.key] }.keys.sorted()
        #expect(moved == ["day/me/2025-03-13", "day/me/2025-03-14", "day/me/2025-03-15"])

        // The handler's earlier outputs don't make these days final; those it has computed since then do.
        try beats(rig, observer: 105, steps: 50)
        #expect(try summaries(rig).values.count { $0["final"] == false } == 3)
        try rig.hear(beat("steps", head(51, store: "s"), frontier: ["observer": 110]))
        try answerFigures(rig, [(Self.first.adding(days: 4), 4)], through: 51)
        try beats(rig, observer: 110, steps: 51)
        let after = try summaries(rig)
        #expect(after.values.allSatisfy { $0["final"] == true })
        #expect(after.filter { $0.value["revision"] == 2 }.keys.sorted() == ["2025-03-14"])
        #expect(after["2025-03-14"]?["zone"] == "America/New_York")
    }

    /// The end of a day is looked up once, and again after the person has traveled.
    @Test func aDayEndsByTheNewestTimeline() throws {
        let evening = try #require(InstantText.parse("2025-03-25T23:00:00+01:00"))
        let rig = try StageRig(now: evening) { ConsolidatorStage(observer: "observer", handlers: ["steps"]) }
        try beats(rig, observer: 100, steps: 50)
        try answerZones(rig, try ZoneTimeline(zone: Self.berlin), through: 100)
        try answerFigures(rig, [(LocalDay(year: 2025, month: 3, day: 25), 1)], through: 50)
        #expect(try rig.report().details["openDays"] == 0)
        // In that zone it is already the next morning.
        try hearObserver(rig, 110)
        try answerZones(rig, try ZoneTimeline(zone: "Asia/Tokyo"), through: 110)
        #expect(try rig.report().details["openDays"] == 1)
    }

    @Test func reopenedDaysOutliveARestart() throws {
        let rig = try settled()
        try hearObserver(rig, 110)
        try answerZones(rig, try ZoneTimeline(zone: "Asia/Tokyo"), through: 110)
        try rig.restart()
        #expect(try rig.report().details["openDays"] == 10)
        try beats(rig, observer: 110, steps: 50)
        #expect(try summaries(rig).values.allSatisfy { $0["final"] == true && $0["revision"] == 1 })
    }

    @Test func anotherNameOfTheSameClockReopensNothing() throws {
        let rig = try settled()
        try beats(rig, observer: 110, steps: 50)
        try answerZones(rig, try ZoneTimeline(zone: "Europe/Paris"), through: 110)
        let days = try summaries(rig)
        #expect(days.values.allSatisfy { $0["final"] == true && $0["zone"] == "Europe/Paris" })
    }
}
