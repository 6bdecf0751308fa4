import HealthModel
import ObserverStage
import StageKit
import TestSupport
import Testing

/// A device's health store as a source for the observer.
struct LiveChangesTests {
    private static let uuid = SampleID(high: 0x1111_2222_3333_4444, low: 0x8555_6666_7777_8888)

    private func observer() throws -> StageRig<ObserverStage> {
        let rig = try StageRig { ObserverStage(instance: "observer", zone: "Europe/Berlin", defaultUser: "me") }
        try rig.turn()
        rig.sent = []
        return rig
    }

    private func give(_ rig: StageRig<ObserverStage>, _ records: [Record], deleted: [SampleID] = []) throws {
        var batch = Record.batch(records)
        batch.healthKitUUID = records.map { _ in Self.uuid }
        let changes = LiveChanges(user: "me", source: "phone", added: batch, deleted: deleted)
        try rig.turn { try rig.stage.receive(EffectResult(id: 0, value: changes), $0) }
    }

    @Test func aSampleIsKeptOnceHoweverOftenItIsSent() throws {
        let rig = try observer()
        let record = Record(start: Instant(seconds: 1_743_000_000), value: 12)
        try give(rig, [record])
        let head = try rig.report().heads[record.type]
        #expect(head != nil)
        try give(rig, [record])
        #expect(try rig.report().heads[record.type] == head)
    }

    @Test func aDeletionByUUIDMovesTheTypesHeadAndIsForGood() throws {
        let rig = try observer()
        let record = Record(start: Instant(seconds: 1_743_000_000), value: 12)
        try give(rig, [record])
        let added = try rig.report().heads[record.type] ?? 0
        rig.sent = []
        try give(rig, [], deleted: [Self.uuid])
        let deleted = try rig.report().heads[record.type] ?? 0
        #expect(deleted > added)
        #expect(rig.sent.contains { $0.topic == "observed.\(record.type)" })
        try give(rig, [record])
        #expect(try rig.report().heads[record.type] == deleted)
    }
}
