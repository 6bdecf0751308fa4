import Changelog
import HealthModel
import HealthStore
import ObserverReading
import StageKit

/// A person's events can change in other ways, too: a push of the same UUID with a higher sync version, a conflict that
/// is resolved, another stack that is followed and has the same event. Anyone who read the event before such a change
/// must not overwrite the change unseen, so the event gets a new version.
extension ObserverStage {
    /// JSON can't represent larger numbers exactly.
    private static let highestVersion: Int64 = 1 << 53

    /// Raises the versions of the events whose samples a batch has changed.
    /// - Parameter session: the session that has just stored the batch; without outcomes it can't have changed any
    ///   event.
    func raiseVersions(
        of records: RecordBatch, _ session: ImportSession, user: String, _ turn: Turn
    ) throws {
        guard records.healthKitUUID.count == session.outcomes.count else { return }
        for (row, outcome) in session.outcomes.enumerated() where outcome == .changed {
            if let uuid = records.healthKitUUID[row] { try raiseVersion(of: uuid, user: user, turn) }
        }
    }

    /// Raises the version of the event that the sample belongs to, if any.
    func raiseVersion(of uuid: SampleID, user: String, _ turn: Turn) throws {
        guard var place = try OwnTables.event(with: uuid, of: user, in: turn.database) else { return }
        let reader = try self.reader ?? HealthStoreReader(database: turn.database)
        place.version += 1
        // A later change here must have a higher sync version than the one received.
        let given = try reader.entered(uuid: uuid, user: user)?.syncVersion ?? 0
        if given < Self.highestVersion { place.version = max(place.version, given) }
        try OwnTables.save(place, of: user, in: try turn.write().database)
    }
}
