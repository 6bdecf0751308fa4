import HealthModel
import HealthStore
import StageKit

/// Changes reported by a device's health store: samples with their HealthKit UUIDs, and the UUIDs of deleted ones.
/// Repeating them changes nothing.
package struct LiveChanges: Sendable {
    package var user: String
    /// Where the changes came from, as named in the quarantine.
    package var source: String
    package var added: RecordBatch
    package var deleted: [SampleID]

    package init(user: String, source: String, added: RecordBatch, deleted: [SampleID]) {
        (self.user, self.source, self.added, self.deleted) = (user, source, added, deleted)
    }
}

extension ObserverStage {
    func take(_ changes: LiveChanges, _ turn: Turn) throws {
        let session = ImportSession(
            source: changes.source, bringer: .device(changes.source, way: "live"), pushed: turn.now)
        try take(pushed: changes.added, deleted: changes.deleted, of: changes.user, session, turn)
    }
}
