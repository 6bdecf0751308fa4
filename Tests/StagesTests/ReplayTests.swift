import Changelog
import Configuration
import DeliveryKit
import HTTP
import HandlerKit
import HealthModel
import MessageBus
import Protocol
import SQLite
import Simulation
import StageKit
import TestSupport
import Testing
import UploaderStage

private struct OneFigure: DayHandler {
    let version = 1
    let needsPayload = false
    func compute(_ input: DayInput) throws -> DayOutput { DayOutput(figures: ["n": 1]) }
}

/// A chunk of a historical sync, in the stages that carry it out.
@Suite struct ReplayTests {
    private static let day = LocalDay(year: 2025, month: 3, day: 26)
    private static let noon = Instant(seconds: 1_742_986_800)

    private func replay(_ id: String) -> Value {
        [
            "id": .string(id), "from": "2025-03-18", "through": "2025-03-20",
            "users": ["me": [1_742_252_400_000_000, 1_742_511_600_000_000]],
        ]
    }

    // MARK: A handler

    private func handler() throws -> StageRig<HandlerStage> {
        let manifest = try Checkout.manifest("steps")
        return try StageRig {
            HandlerStage(
                instance: "steps", manifest: manifest, configuration: [:], handler: OneFigure(), namedTypes: [],
                observer: "observer")
        }
    }

    private func sync(_ rig: StageRig<HandlerStage>, _ sequence: Int64, replay: Value = .null) throws {
        var body: [String: Value] = ["head": Value(head(sequence)), "released": .integer(sequence)]
        if !replay.isNull { body["replay"] = replay }
        try rig.hear("sync.steps", .object(body))
    }

    private func touch(_ rig: StageRig<HandlerStage>, through: Int64) throws {
        let pull = try #require(rig.pulls.first { $0.name == "spans" })
        try rig.answer(
            pull,
            .pages([
                [
                    "users": ["me"], "user": .column(.int32([0])), "start": .column(.int64([Self.noon.microseconds])),
                    "end": .column(.int64([Self.noon.microseconds + 1])), "zones": ["me": [[.null, "Europe/Berlin"]]],
                    "from": pull.query["after"] ?? 0, "through": .integer(through), "head": Value(head(through)),
                ]
            ]))
    }

    private func slice(_ rig: StageRig<HandlerStage>) throws -> Pull {
        let pull = try #require(rig.pulls.first { $0.name == "slice" })
        try rig.answer(pull, .pages([["samples": SamplePage().wireValue]]))
        return pull
    }

    private func left(_ rig: StageRig<HandlerStage>) throws -> Value? { try rig.report().details["replay"] }

    @Test func aHandlerComputesTheDaysOnceAndHoldsNothingUp() throws {
        let rig = try handler()
        try sync(rig, 10)
        try touch(rig, through: 10)
        _ = try slice(rig)
        try sync(rig, 10, replay: replay("1-1"))
        #expect(try left(rig) == ["id": "1-1", "left": 3])
        #expect(try rig.report().frontier["observer"] == 10)
        // The record of what remains to be done survives a kill.
        try rig.restart()
        #expect(try left(rig) == ["id": "1-1", "left": 3] && rig.report().frontier["observer"] == 10)
        try sync(rig, 10, replay: replay("1-1"))
        _ = try slice(rig)
        #expect(try left(rig) == ["id": "1-1", "left": 0])
        try sync(rig, 10, replay: replay("1-1"))
        #expect(rig.pulls.isEmpty)
        try sync(rig, 10, replay: replay("1-2"))
        #expect(try left(rig) == ["id": "1-2", "left": 3])
    }

    @Test func whatIsLiveIsComputedFirst() throws {
        let rig = try handler()
        try sync(rig, 10)
        try touch(rig, through: 10)
        _ = try slice(rig)
        // Days after the live day were requested earlier, but the live day still comes first.
        var later = replay("1-1").object ?? [:]
        later["from"] = "2025-04-01"
        later["through"] = "2025-05-30"
        try sync(rig, 10, replay: .object(later))
        try sync(rig, 20)
        try touch(rig, through: 20)
        // The day in progress is finished first; today comes next.
        _ = try slice(rig)
        let next = try #require(rig.pulls.last { $0.name == "slice" })
        let span = try #require(next.integer("from"))..<(try #require(next.integer("to")))
        #expect(span.contains(Self.noon.microseconds))
        try rig.answer(next, .pages([["samples": SamplePage().wireValue]]))
        #expect(try rig.report().frontier["observer"] == 20)
        #expect(try left(rig)?["left"].int ?? 0 > 0)
    }

    // MARK: The uploader

    private func uploader() throws -> StageRig<DeliveryStage> {
        try StageRig {
            DeliveryStage(
                observer: "observer", handlers: [], consolidator: "consolidator",
                policy: RetryPolicy(base: 1, cap: 8), generator: SeededRandom(seed: 5), instance: "uploader",
                family: { DeliveryMetric(family: $0) })
        }
    }

    private func announce(_ rig: StageRig<DeliveryStage>, _ replay: Value) throws {
        try rig.hear("sync.uploader", ["head": Value(head(10)), "released": 10, "replay": replay])
    }

    private func settleLive(_ rig: StageRig<DeliveryStage>) throws {
        let pull = try #require(rig.pulls.first { $0.name == "samples" })
        try rig.answer(
            pull,
            .pages([
                [
                    "samples": SamplePage().wireValue, "users": [], "user": .column(.int32([])), "from": 0,
                    "through": 10, "head": Value(head(10)),
                ]
            ]))
    }

    private func samplePage() -> SamplePage {
        var page = SamplePage()
        page.types = ["steps"]
        page.units = ["count"]
        page.origins = [Origin(sourceName: "Watch", sourceVersion: "1", productType: "", device: "")]
        page.ids = [SampleID(high: 1, low: 2)]
        page.sequence = [7]
        page.type = [0]
        page.start = [1_742_300_000_000_000]
        page.end = [1_742_300_060_000_000]
        page.value = [42]
        page.origin = [0]
        page.flags = [[]]
        page.unit = [0]
        page.created = [1_742_300_100]
        return page
    }

    @Test func theUploaderDeliversTheChunkAgainAndMovesNoAnchor() throws {
        let rig = try uploader()
        try rig.hear(beat("consolidator", head(0, store: "consolidator")))
        try announce(rig, .null)
        try settleLive(rig)
        let frontier = try rig.report().frontier
        try announce(rig, replay("1-1"))
        #expect(try rig.report().details["replay"]?["left"].int ?? 0 > 0)
        let slice = try #require(rig.pulls.first { $0.name == "slice" })
        #expect(
            slice.query["user"] == "me" && slice.query["from"] == 1_742_252_400_000_000 && slice.query["asOf"] == 10)
        try rig.answer(slice, .pages([["samples": samplePage().wireValue, "head": Value(head(10))]]))
        let effect = try #require(rig.effects.first { $0.request is DeliveryRequest })
        let request = try #require(effect.request as? DeliveryRequest)
        #expect(request.path == "/api/v1/sync/steps")
        #expect(try Value(json: request.body)["samples"].array?.first?["version"] == 7)
        try rig.reply(effect, UploadReply.answered(status: 200, retryAfter: nil, body: []))
        let rows = try #require(rig.pulls.first { $0.producer == "consolidator" && $0.query["days"] != nil })
        #expect(rows.query["days"] == [20_165, 20_167])
        let row = KeyedChangelog.Row(
            sequence: 3, key: "day/me/2025-03-19", topic: "daily.summary", user: "me", day: 20_166,
            body: ["date": "2025-03-19"])
        try rig.answer(
            rows,
            .pages([
                [
                    "rows": [row.wireValue], "from": 0, "through": 5, "head": Value(head(5, store: "consolidator")),
                ]
            ]))
        let days = try #require(rig.effects.first { $0.request is DeliveryRequest })
        #expect((days.request as? DeliveryRequest)?.path == "/api/v1/sync/daily")
        try rig.reply(days, UploadReply.answered(status: 200, retryAfter: nil, body: []))
        #expect(try rig.report().details["replay"] == ["id": "1-1", "left": 0])
        #expect(try rig.report().frontier == frontier)
        // A finished chunk stays finished, even after a restart.
        try rig.restart()
        try announce(rig, replay("1-1"))
        #expect(try rig.report().details["replay"] == ["id": "1-1", "left": 0])
        #expect(!rig.pulls.contains { $0.name == "slice" })
    }

    /// - Parameter refused: how many of the answered elements become dead letters.
    @Test(arguments: [("", 0), (#"{"refused":[{"id":"00000000-0000-0001-0000-000000000002","reason":"odd"}]}"#, 1)])
    func theUploaderDeliversNamedRowsAgainTombstonesToo(_ answered: String, refused: Int64) throws {
        let rig = try uploader()
        try rig.hear(beat("consolidator", head(0, store: "consolidator")))
        try announce(rig, .null)
        try settleLive(rig)
        let frontier = try rig.report().frontier
        // Nothing beyond what was delivered (10) is requested: the rest will be sent anyway.
        let request = RepairRequest(
            id: "v", action: "replay",
            ["rows": ["observer": [[5, 7], [8, 9], [20, 30]], "nobody": [[1, 2]]]])
        try rig.turn {
            let state = try rig.stage.repair(request, $0)
            #expect(state == .underWay(left: 1))
        }
        func answer(_ page: SamplePage, through: Int64) throws -> Value {
            [
                "samples": page.wireValue, "users": ["me"],
                "user": .column(.int32(Array(repeating: 0, count: page.count))), "from": 0,
                "through": .integer(through), "head": Value(head(10)),
            ]
        }
        func repaired() throws -> RepairOutcome {
            var repaired = RepairOutcome.refused("")
            try rig.turn { repaired = try rig.stage.repaired(request, $0) }
            return repaired
        }
        _ = try repaired()
        // The first part comes in two pages.
        let first = try #require(rig.pulls.first { $0.query["after"] == 5 })
        #expect(first.query["until"] == 7 && first.query["query"] == "samples" && first.query["store"] == "store")
        try rig.answer(first, .pages([try answer(SamplePage(), through: 6)]))
        let rest = try #require(rig.pulls.first { $0.query["after"] == 6 })
        var page = samplePage()
        page.flags = [.deleted]
        try rig.answer(rest, .pages([try answer(page, through: 7)]))
        let effect = try #require(rig.effects.first { $0.request is DeliveryRequest })
        let body = try Value(json: try #require(effect.request as? DeliveryRequest).body)
        #expect(body["samples"] == [] && body["deleted"].array?.first?["version"] == 7)
        try rig.reply(effect, UploadReply.answered(status: 200, retryAfter: nil, body: Array(answered.utf8)))
        let second = try #require(rig.pulls.first { $0.query["after"] == 8 })
        #expect(try repaired() == .underWay(left: 2))
        try rig.answer(second, .pages([try answer(SamplePage(), through: 9)]))
        #expect(try repaired() == .done(["sent": 1, "refused": .integer(refused)]))
        #expect(try rig.report().frontier == frontier && !rig.pulls.contains { $0.query["after"] == 20 })
    }

    @Test func aKilledUploaderBeginsTheChunkAgain() throws {
        let rig = try uploader()
        try announce(rig, .null)
        try settleLive(rig)
        try announce(rig, replay("1-1"))
        let slice = try #require(rig.pulls.first { $0.name == "slice" })
        try rig.answer(slice, .pages([["samples": samplePage().wireValue, "head": Value(head(10))]]))
        try rig.restart()
        #expect(try rig.report().details["replay"] == nil)
        try announce(rig, replay("1-1"))
        #expect(rig.pulls.contains { $0.name == "slice" })
    }
}
