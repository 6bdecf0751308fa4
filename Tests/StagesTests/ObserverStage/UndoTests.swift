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

/// Samples from an import or a device are removed when a person asks for it.
@Suite struct UndoTests {
    private let start: Instant
    private static let steps = "HKQuantityTypeIdentifierStepCount"

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

    private func run(_ rig: StageRig<RepairStage>, _ id: String, _ records: [Record]) throws {
        try rig.hear("control.observer", ["command": "import", "id": .string(id), "path": "/x.zip", "user": "me"])
        let adopt = try #require(
            rig.effects.last { if case .adopt? = $0.request as? ObserverEffect { true } else { false } })
        try rig.reply(adopt, FileStep.adopted(id: id))
        let read = try #require(
            rig.effects.last { if case .read? = $0.request as? ObserverEffect { true } else { false } })
        rig.effects.removeAll { $0.id == read.id }
        for event in [
            ImportEvent.found(.records(Record.batch(records))), .finished(ReadSummary()),
        ] { try rig.reply(read, event) }
    }

    private func push(_ rig: StageRig<RepairStage>, _ request: String, _ records: [Record]) throws {
        var part = IngestPart(id: request, number: 0, user: "me", device: "phone", way: "/v1/samples")
        part.records = Record.batch(records)
        try rig.hear(IngestPart.topic("observer"), part.body)
    }

    private func alive(_ rig: StageRig<RepairStage>) throws -> [Int] {
        let page = try HealthStoreReader(database: rig.store.database).anchored(
            TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: .beginning))
        ).samples
        return page.value.indices.filter { !page.flags[$0].contains(.deleted) }.map { Int(page.value[$0]) }.sorted()
    }

    /// Sends the request, and runs turns until it is done.
    private func undo(_ rig: StageRig<RepairStage>, _ id: String, _ members: [String: Value]) throws -> Repair {
        let request = RepairRequest(id: id, action: "undo", members)
        try rig.hear("control.observer", .object(request.body))
        for _ in 0..<100 {
            let reported: Repair = try #require(try rig.report().details["mending"]?.read())
            if reported.id == id, reported.state != .underWay { return reported }
            try rig.turn()
        }
        throw UndoDidNotEnd()
    }

    private struct UndoDidNotEnd: Error {}

    @Test func anImportIsTakenBackInStepsAlsoOverARestart() throws {
        let rig = try rig()
        try run(rig, "a0000001", life(1...20))
        try run(rig, "a0000002", life(11...30))
        let tried = try undo(rig, "u1", ["import": "a0000001", "dryRun": true])
        #expect(
            tried.result?.read(UndoReport.self)
                == UndoReport(
                    dryRun: true, taken: [Self.steps: 10], kept: [Self.steps: 10]))
        #expect(try alive(rig) == Array(1...30))

        let request = RepairRequest(id: "u2", action: "undo", ["import": "a0000001"])
        try rig.hear("control.observer", .object(request.body))
        try rig.turn()
        #expect(try alive(rig).count < 30 && alive(rig).count > 20)
        try rig.restart()
        let done = try undo(rig, "u2", ["import": "a0000001"])
        #expect(done.result?["taken"][Self.steps] == 10, "what was taken before the restart counts once")
        #expect(try alive(rig) == Array(11...30))
        let row = try row(rig, "a0000001")
        #expect(row.undone == rig.now && row.isSpent && row.state == .closed)
        #expect(try undo(rig, "u3", ["import": "a0000001"]).problem?.contains("already") == true)
        // They are imported again, so they are back.
        try run(rig, "a0000003", life(1...20))
        #expect(try alive(rig) == Array(1...30))
    }

    private func row(_ rig: StageRig<RepairStage>, _ id: String) throws -> ImportRow {
        var rows: [ImportRow] = []
        try ObserverSource(database: rig.store.database).answer(
            Question(.imports(id: id)), for: nil, head: rig.store.head
        ) { page, _ in rows += (page as? ImportsPage)?.imports ?? [] }
        return try #require(rows.first)
    }

    @Test func aDeviceIsTakenBackAndWhatAnImportBroughtTooStays() throws {
        let rig = try rig()
        try push(rig, "r1", life(1...6))
        try push(rig, "r2", life(7...8))
        try run(rig, "a0000001", life(5...7))
        let done = try undo(rig, "u1", ["device": "phone"])
        #expect(done.result?["taken"][Self.steps] == 5 && done.result?["kept"][Self.steps] == 3)
        #expect(try alive(rig) == [5, 6, 7])
        #expect(try undo(rig, "u2", ["device": "tablet"]).problem?.contains("no device with that name") == true)
    }

    @Test func whatCannotBeTakenBackIsSaid() throws {
        let rig = try rig()
        #expect(try undo(rig, "u1", ["import": "a0000009"]).problem?.contains("there is no import") == true)
        #expect(try undo(rig, "u2", [:]).problem?.contains("doesn't say what to take back") == true)
        try rig.hear("control.observer", ["command": "import", "id": "a0000001", "path": "/x.zip", "user": "me"])
        #expect(try undo(rig, "u3", ["import": "a0000001"]).problem?.contains("isn't over") == true)
        // An import by an earlier release has no record of its samples.
        try run(rig, "a0000002", [])
        #expect(try undo(rig, "u4", ["import": "a0000002"]).problem?.contains("earlier release") == true)
    }
}
