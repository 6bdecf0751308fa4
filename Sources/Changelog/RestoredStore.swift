import Foundation
import HealthModel
import Protocol
import SQLite

/// Makes a store from a copy of an older state of itself.
package enum RestoredStore {
    /// Begins a new generation: whoever has seen more than the copy holds notices. Derived rows get new versions, so that
    /// they are delivered again.
    /// - Parameters:
    ///   - draft: the copy, which becomes the store.
    ///   - place: where it will be; what is there now may have given out higher sequence numbers.
    package static func begin(at draft: String, replacing place: String) throws {
        let store = try StageDatabase(path: draft)
        try store.transaction {
            try KeyedChangelog.createTables(in: store.database)
            try store.beginGeneration(least: lastSequence(of: place))
            try KeyedChangelog(store).renew()
        }
        // Moves everything into the single file that is put in place.
        try store.database.checkpoint()
    }

    /// The last sequence number given out by the store being replaced; the beginning if unknown.
    private static func lastSequence(of place: String) -> SequenceNumber {
        guard FileManager.default.fileExists(atPath: place), let database = try? Database(path: place),
            let head = try? StageDatabase.readHead(in: database).head
        else {
            return .beginning
        }
        return head.sequence
    }
}
