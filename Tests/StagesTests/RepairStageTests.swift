import Changelog
import Configuration
import ConsolidatorStage
import HandlerKit
import HealthModel
import MessageBus
import Protocol
import SQLite
import Simulation
import StageKit
import Synchronization
import TestSupport
import Testing

private struct Counted: DayHandler {
    let version = 1
    let needsPayload = false
    let isBroken: @Sendable () -> Bool

    struct Broken: Error {}

    func compute(_ input: DayInput) throws -> DayOutput {
        if isBroken() { throw Broken() }
        return DayOutput(figures: ["n": .integer(Int64(input.samples.count))])
    }
}

/// How stages handle repair requests: each is taken once, kept, and answered.
@Suite struct RepairStageTests {
    private static let noon = Instant(seconds: 1_742_986_800)

    private func handler(isBroken: @escaping @Sendable () -> Bool = { false }) throws -> StageRig<RepairStage> {
        let manifest = try Checkout.manifest("steps")
        return try StageRig {
            RepairStage(
                HandlerStage(
                    instance: "steps", manifest: manifest, configuration: [:], handler: Counted(isBroken: isBroken),
                    namedTypes: [],
                    observer: "observer"), instance: "steps")
        }
    }

    private func sync(_ rig: StageRig<RepairStage>, _ head: StoreHead) throws {
        try rig.hear("sync.steps", ["head": Value(head), "released": .integer(head.sequence.value)])
    }

    /// One day with samples, already computed.
    private func computed() throws -> StageRig<RepairStage> {
        let rig = try handler()
        try sync(rig, head(10))
        try answerSpans(rig, head(10))
        try answerSlice(rig)
        return rig
    }

    private func answerSpans(_ rig: StageRig<RepairStage>, _ head: StoreHead) throws {
        let pull = try #require(rig.pulls.first { $0.name == "spans" })
        try rig.answer(
            pull,
            .pages([
                [
                    "users": ["me"], "user": .column(.int32([0])), "start": .column(.int64([Self.noon.microseconds])),
                    "end": .column(.int64([Self.noon.microseconds + 1])), "zones": ["me": [[.null, "Europe/Berlin"]]],
                    "from": pull.query["after"] ?? 0, "through": .integer(head.sequence.value), "head": Value(head),
                ]
            ]))
    }

    private func answerSlice(_ rig: StageRig<RepairStage>) throws {
        let pull = try #require(rig.pulls.first { $0.name == "slice" })
        try rig.answer(pull, .pages([["samples": SamplePage().wireValue]]))
    }

    private func ask(_ rig: StageRig<RepairStage>, _ request: RepairRequest) throws {
        try rig.hear("control.steps", request.members)
    }

    private func repair(_ rig: StageRig<RepairStage>) throws -> Value { try rig.report().details["mending"] ?? .null }

    private func replay(_ id: String) -> RepairRequest {
        RepairRequest(
            id: id, action: "replay",
            [
                "from": "2025-03-26", "through": "2025-03-26",
                "users": ["me": [.integer(Self.noon.microseconds), .integer(Self.noon.microseconds)]],
            ])
    }

    @Test func aReplayIsDoneOnceAndOutlivesAKill() throws {
        let rig = try computed()
        let before = rig.store.sequence
        try ask(rig, replay("a"))
        #expect(try repair(rig)["state"] == "underWay" && repair(rig)["left"] == 1)
        // The repair holds nothing up.
        #expect(try rig.report().frontier["observer"] == 10)
        // A second request isn't accepted while the first is under way, and must be sent again.
        try ask(rig, replay("b"))
        #expect(try repair(rig)["id"] == "a")
        try rig.restart()
        #expect(try repair(rig)["id"] == "a" && repair(rig)["left"] == 1)
        try sync(rig, head(10))
        try answerSlice(rig)
        try rig.turn()
        #expect(try repair(rig) == ["id": "a", "action": "replay", "state": "done", "result": ["revised": 0]])
        #expect(rig.store.sequence == before)
        let commits = rig.commits
        try ask(rig, replay("a"))
        #expect(rig.commits == commits && rig.pulls.isEmpty)
        try ask(rig, replay("b"))
        #expect(try repair(rig)["id"] == "b")
    }

    /// A sender that saw only another request's outcome asks again: its own request isn't carried out a second time.
    @Test func whatIsDoneIsDoneOnceEvenAfterAnother() throws {
        let rig = try computed()
        try ask(rig, RepairRequest(id: "a", action: "reset"))
        let generation = rig.store.head.generation
        try ask(rig, RepairRequest(id: "b", action: "retry"))
        #expect(try repair(rig)["id"] == "b")
        for _ in 0..<2 {
            let commits = rig.commits
            try ask(rig, RepairRequest(id: "a", action: "reset"))
            #expect(try repair(rig)["id"] == "a" && repair(rig)["state"] == "done")
            #expect(rig.commits == commits && rig.store.head.generation == generation)
            try ask(rig, RepairRequest(id: "b", action: "retry"))
            #expect(try repair(rig)["id"] == "b" && repair(rig)["state"] == "refused")
            // The same after a restart.
            try rig.restart()
        }
        for number in 0..<16 { try ask(rig, RepairRequest(id: "\(number)", action: "retry")) }
        try ask(rig, RepairRequest(id: "a", action: "reset"))
        #expect(rig.store.head.generation != generation)
    }

    @Test func aReplaySaysWhichDaysCouldNotBeComputed() throws {
        let isBroken = Mutex(false)
        let rig = try handler { isBroken.withLock { $0 } }
        try sync(rig, head(10))
        try answerSpans(rig, head(10))
        try answerSlice(rig)
        isBroken.withLock { $0 = true }
        let after = RepairRequest(id: "b", action: "replay", ["since": 4])
        for request in [replay("a"), after] {
            try ask(rig, request)
            if request == after { try answerSpans(rig, head(10)) }
            // After its third try, the day is left out.
            for _ in 1...3 {
                #expect(try repair(rig)["state"] == "underWay")
                try answerSlice(rig)
                try rig.turn()
            }
            #expect(
                try repair(rig)["result"] == ["revised": 0, "failed": ["2025-03-26"], "failedDays": 1],
                "\(request.id)")
        }
        isBroken.withLock { $0 = false }
        try ask(rig, replay("c"))
        try answerSlice(rig)
        try rig.turn()
        #expect(try repair(rig)["result"] == ["revised": 0])
    }

    @Test func aReplaysReportStaysSmall() {
        #expect(ReplayReport(revised: 1).failed == nil && ReplayReport(revised: 1).failedDays == nil)
        let report = ReplayReport(revised: 0, failed: (0..<3650).map { LocalDay(number: $0).description })
        #expect(report.failed?.count == 100 && report.failed?.first == "1970-01-01" && report.failedDays == 3650)
    }

    @Test func aReplayFromASequenceAsksForWhatHasChangedSince() throws {
        let rig = try computed()
        try ask(rig, RepairRequest(id: "a", action: "replay", ["since": 4]))
        let pull = try #require(rig.pulls.first { $0.name == "spans" })
        #expect(pull.query["after"] == 4 && pull.query["until"] == 10)
        #expect(try rig.report().frontier["observer"] == 4)
        try answerSpans(rig, head(10))
        try answerSlice(rig)
        try rig.turn()
        #expect(try repair(rig)["state"] == "done" && rig.report().frontier["observer"] == 10)
    }

    @Test func aResetReadsEverythingAgainAndInformsItsConsumers() throws {
        let rig = try computed()
        let old = rig.store.head
        try ask(rig, RepairRequest(id: "a", action: "reset"))
        #expect(try repair(rig)["state"] == "done")
        #expect(try rig.store.judge(PullPlace(of: old, after: old.sequence)) == .reset)
        #expect(rig.store.head.first == old.first && rig.store.sequence > old.sequence)
        // The old content stays until it is computed again.
        #expect(try rig.rows().values.contains { $0.body != nil })
        #expect(try rig.report().frontier["observer"] == 0)
        // The observer doesn't know the anchor that it is sent, so everything starts over.
        try rig.restart()
        try sync(rig, head(10))
        let asked = try #require(rig.pulls.first { $0.name == "spans" })
        #expect(asked.query["store"] == "store" && asked.query["generation"] != "one")
        try rig.answer(asked, .reset(head(10)))
        try sync(rig, head(10))
        try answerSpans(rig, head(10))
        // An answer to a slice query that was sent before the day was marked again doesn't settle the day; a later
        // answer does.
        while rig.pulls.contains(where: { $0.name == "slice" }) { try answerSlice(rig) }
        #expect(try rig.report().frontier["observer"] == 10)
    }

    @Test func whatAStageDoesNotDoItRefuses() throws {
        let rig = try handler()
        try ask(rig, RepairRequest(id: "a", action: "retry"))
        #expect(try repair(rig)["state"] == "refused" && repair(rig)["problem"].string?.contains("retry") == true)
        try ask(rig, RepairRequest(id: "b", action: "backup", ["folder": "../elsewhere"]))
        #expect(try repair(rig)["id"] == "b" && repair(rig)["state"] == "refused")
        #expect(rig.effects.isEmpty)
    }

    @Test func aCopyIsAskedForAndNotKept() throws {
        let rig = try handler()
        try ask(rig, RepairRequest(id: "a", action: "backup", ["folder": "one"]))
        #expect(try repair(rig)["state"] == "underWay" && rig.effects.count == 1)
        // The request isn't stored as running; otherwise it would start again wherever a copy of the file is restored.
        try rig.restart()
        #expect(try repair(rig).isNull && rig.effects.isEmpty)
    }

    @Test func selectionsTakePartsOfReasonsAndShortTypes() {
        let type = "HKQuantityTypeIdentifierStepCount"
        func takes(_ selection: RepairSelection) -> Bool {
            selection.takes(number: 3, reason: "It Ends early", type: type)
        }
        #expect(
            takes(RepairSelection()) && takes(RepairSelection(numbers: [1, 3])) && !takes(RepairSelection(numbers: [])))
        #expect(takes(RepairSelection(reason: "ends")) && !takes(RepairSelection(reason: "late")))
        #expect(takes(RepairSelection(type: "StepCount")) && takes(RepairSelection(type: type)))
        #expect(!takes(RepairSelection(type: "Count")) && !takes(RepairSelection(numbers: [3], reason: "late")))
        let all = RepairSelection(numbers: [1], reason: "a", type: "b")
        #expect(Value(all).read(RepairSelection.self) == all)
    }
}
