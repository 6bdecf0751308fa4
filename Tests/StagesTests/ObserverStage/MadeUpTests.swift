import Changelog
import Foundation
import HealthImport
import HealthModel
import HealthStore
import MessageBus
import ObserverReading
import ObserverStage
import Protocol
import StageKit
import TestSupport
import Testing

/// Made-up data and a person's data stay separate unless mixing is intended, and imports end when a person asks.
@Suite struct MadeUpTests {
    private let start: Instant

    init() throws { start = try #require(InstantText.parse("2025-03-10T00:00:00Z")) }

    private func rig() throws -> StageRig<RepairStage> {
        try StageRig {
            RepairStage(
                ObserverStage(instance: "observer", zone: "Europe/Berlin", defaultUser: "me", rowsPerStep: 4),
                instance: "observer")
        }
    }

    private func life(_ values: ClosedRange<Int>) -> [Record] {
        values.map { Record(start: start + Duration.seconds(3600) * $0, value: Double($0)) }
    }

    /// Hands over a file, and answers everything up to the effect that reads it.
    private func begin(
        _ rig: StageRig<RepairStage>, _ id: String, user: String = "me", _ options: [String: Value] = [:]
    ) throws -> Effect {
        try rig.hear(
            "control.observer",
            .object(
                ["command": "import", "id": .string(id), "path": "/x.zip", "user": .string(user)].merging(options) {
                    $1
                }))
        let adopt = try #require(
            rig.effects.last { if case .adopt? = $0.request as? ObserverEffect { true } else { false } })
        try rig.reply(adopt, FileStep.adopted(id: id))
        return try #require(
            rig.effects.last { if case .read(id, _, _)? = $0.request as? ObserverEffect { true } else { false } })
    }

    /// A whole import.
    private func run(
        _ rig: StageRig<RepairStage>, _ id: String, isMadeUp: Bool, user: String = "me",
        _ options: [String: Value] = [:]
    ) throws -> ImportRow {
        let read = try begin(rig, id, user: user, options)
        rig.effects.removeAll { $0.id == read.id }
        for event in [
            ImportEvent.found(.info(ExportInfo(date: start, locale: "", isMadeUp: isMadeUp))),
            .found(.records(Record.batch(life(1...3)))), .finished(ReadSummary()),
        ] { try rig.reply(read, event) }
        return try row(rig, id)
    }

    private func row(_ rig: StageRig<RepairStage>, _ id: String) throws -> ImportRow {
        var rows: [ImportRow] = []
        try ObserverSource(database: rig.store.database).answer(
            Question(.imports(id: id)), for: nil, head: rig.store.head
        ) { page, _ in rows += (page as? ImportsPage)?.imports ?? [] }
        return try #require(rows.first)
    }

    @Test func aPersonsStoreTakesNothingMadeUpUnlessAsked() throws {
        let rig = try rig()
        #expect(try run(rig, "aaaaaaaa-0001", isMadeUp: false).state == .closed)
        let refused = try run(rig, "aaaaaaaa-0002", isMadeUp: true)
        #expect(refused.state == .failed && refused.report == nil)
        #expect(refused.problem?.contains("it is generated test data, but 'me' has real data") == true)
        #expect(refused.problem?.contains("--mix-made-up") == true)
        // A dry run reports the same, and another user's store is separate.
        #expect(try run(rig, "aaaaaaaa-0003", isMadeUp: true, ["dryRun": true]).state == .failed)
        #expect(try run(rig, "aaaaaaaa-0004", isMadeUp: true, user: "robin").state == .closed)
        #expect(try run(rig, "aaaaaaaa-0005", isMadeUp: true, ["mixMadeUp": true]).state == .closed)
        #expect(try run(rig, "aaaaaaaa-0006", isMadeUp: false).state == .closed)
        #expect(try run(rig, "aaaaaaaa-0007", isMadeUp: true).state == .failed)
    }

    @Test func aMadeUpStoreTakesNoPersonsExportUnlessAsked() throws {
        let rig = try rig()
        let first = try run(rig, "aaaaaaaa-0001", isMadeUp: true)
        #expect(first.state == .closed && first.report?["madeUp"] == true)
        #expect(try run(rig, "aaaaaaaa-0002", isMadeUp: true).state == .closed)
        let refused = try run(rig, "aaaaaaaa-0003", isMadeUp: false)
        #expect(
            refused.state == .failed
                && refused.problem?.contains("it is a real export, but 'me' has generated test data") == true)
        // The note survives a restart.
        try rig.restart()
        #expect(try run(rig, "aaaaaaaa-0004", isMadeUp: false).state == .failed)
        // Mixed data counts as a person's own.
        let mixed = try run(rig, "aaaaaaaa-0005", isMadeUp: false, ["mixMadeUp": true])
        #expect(mixed.state == .closed && mixed.report?["madeUp"] == .null)
        #expect(try run(rig, "aaaaaaaa-0006", isMadeUp: false).state == .closed)
        #expect(try run(rig, "aaaaaaaa-0007", isMadeUp: true).state == .failed)
    }

    @Test func whereNothingIsLeftAnythingMayCome() throws {
        let rig = try rig()
        #expect(try run(rig, "aaaaaaaa-0001", isMadeUp: true).state == .closed)
        var request = RepairRequest(id: "u", action: "undo")
        request.import = "aaaaaaaa-0001"
        try rig.hear("control.observer", .object(request.body))
        for _ in 0..<20 { try rig.turn() }
        #expect(try row(rig, "aaaaaaaa-0001").undone != nil)
        #expect(try run(rig, "aaaaaaaa-0002", isMadeUp: false).state == .closed)
        #expect(try run(rig, "aaaaaaaa-0003", isMadeUp: false).state == .closed)
    }

    private func cancel(_ rig: StageRig<RepairStage>, _ request: String, _ id: String) throws -> Repair {
        var cancellation = RepairRequest(id: request, action: "cancel")
        cancellation.import = id
        try rig.hear("control.observer", .object(cancellation.body))
        for _ in 0..<4 { try rig.turn() }
        let reported: Repair = try #require(try rig.report().details["mending"]?.read())
        #expect(reported.id == request)
        return reported
    }

    @Test func whatIsBeingReadEndsAndTheNextIsRead() throws {
        let rig = try rig()
        let read = try begin(rig, "aaaaaaaa-0001")
        try rig.reply(read, ImportEvent.found(.info(ExportInfo(date: start, locale: ""))))
        try rig.reply(read, ImportEvent.found(.records(Record.batch(life(1...3)))))
        #expect(try cancel(rig, "c1", "aaaaaaaa-0001").state == .done)
        #expect(
            rig.effects.contains {
                if case .abandon(read.id)? = $0.request as? ObserverEffect { true } else { false }
            })
        let ended = try row(rig, "aaaaaaaa-0001")
        #expect(ended.state == .failed && ended.problem == ImportRow.cancelled)
        // Anything its reader still reports is ignored.
        try rig.reply(read, ImportEvent.found(.records(Record.batch(life(4...9)))))
        let heads = try HealthStoreReader(database: rig.store.database).heads(user: "me")
        #expect(heads.map(\.alive) == [3])
        #expect(try run(rig, "aaaaaaaa-0002", isMadeUp: false).state == .closed)
        #expect(try cancel(rig, "c2", "aaaaaaaa-0002").state == .refused)
        #expect(try cancel(rig, "c3", "bbbbbbbb").state == .refused)
    }

    @Test func whatWaitsEndsAndWhatIsBeingReadGoesOn() throws {
        let rig = try rig()
        let first = try begin(rig, "aaaaaaaa-0001")
        rig.effects.removeAll { $0.id == first.id }
        try rig.hear(
            "control.observer", ["command": "import", "id": "aaaaaaaa-0002", "path": "/y.zip", "user": "me"])
        let adopt = try #require(
            rig.effects.last { if case .adopt? = $0.request as? ObserverEffect { true } else { false } })
        try rig.reply(adopt, FileStep.adopted(id: "aaaaaaaa-0002"))
        #expect(try row(rig, "aaaaaaaa-0002").state == .open)
        #expect(try cancel(rig, "c1", "aaaaaaaa-0002").state == .done)
        #expect(try row(rig, "aaaaaaaa-0002").problem == ImportRow.cancelled)
        let between = rig.store.sequence
        for event in [
            ImportEvent.found(.records(Record.batch(life(1...3)))),
            .finished(ReadSummary()),
        ] { try rig.reply(first, event) }
        #expect(try row(rig, "aaaaaaaa-0001").state == .closed)
        // The rest of the first file is still history.
        let head = rig.store.head
        let spans: Value = [
            "query": "spans", "types": ["exclude": []], "store": .string(head.store),
            "generation": .string(head.generation), "after": .integer(between.value),
            "until": .integer(head.sequence.value),
        ]
        var isBulk = false
        try ObserverSource(database: rig.store.database).answer(spans, head: head) { members, _ in
            isBulk = members["bulk"] == true
        }
        #expect(isBulk)
    }
}
