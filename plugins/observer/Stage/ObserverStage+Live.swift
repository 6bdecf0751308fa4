import HealthModel
import HealthStore
import StageKit

/// What a device's health store says has changed: samples with their HealthKit UUIDs, and the UUIDs of deleted ones. To say it again changes nothing.
package struct LiveChanges: Sendable {
    package var user: String
    /// Where it came from, as quarantine lists name it.
    package var source: String
    package var added: RecordBatch
    package var deleted: [SampleID]

    package init(user: String, source: String, added: RecordBatch, deleted: [SampleID]) {
        (self.user, self.source, self.added, self.deleted) = (user, source, added, deleted)
    }
}

extension ObserverStage {
    /// Deletions first: a sample that takes another's place may have its key.
    func take(_ changes: LiveChanges, _ turn: Turn) throws {
        try zones.ensure(user: changes.user, zone: zone, turn)
        let writer = try writer(for: changes.user, turn)
        _ = try turn.write()
        try writer.delete(uuids: changes.deleted)
        let counts = try writer.ingest(
            changes.added,
            session: ImportSession(source: changes.source, bringer: .device(changes.source, way: "live")),
            plausibility: Self.plausibility(at: turn.now)
        )
        try zones.observe(changes.added, user: changes.user, turn)
        quarantined += Int64(counts.total.newlyQuarantined)
        try refreshHeads()
    }
}
