import HealthModel
import SQLite

/// Where a sample is in the store; its value isn't included.
package struct SamplePlace: Sendable, Equatable {
    package var id: SampleID
    /// HealthKit's own UUID.
    package var uuid: SampleID?
    package var user: String
    package var type: String
    /// The sequence of its latest change.
    package var sequence: SequenceNumber
    /// The sequence of the change that added it.
    package var born: SequenceNumber
    package var start: Instant
    package var end: Instant
    /// "alive", "absent" (gone, but may come back), "deleted" or "quarantined".
    package var state: String
}

extension HealthStoreReader {
    /// Finds a sample by its id or by HealthKit's UUID; nil when there is none.
    package func sample(_ id: SampleID) throws -> SamplePlace? {
        try refresh()
        let users = self.users.ids.sorted { $0.value < $1.value }
        for (name, user) in users {
            if let row = try row(uuid: id, user: user) { return try place(of: row, user: name) }
        }
        let types = self.types.ids.values.sorted()
        for (name, user) in users {
            if let row = try lookup.row(id: id, among: types, user: user) { return try place(of: row, user: name) }
        }
        return nil
    }

    /// The row that has a UUID.
    func row(uuid: SampleID, user: Int) throws -> StoredRow? {
        try uuids.entry(uuid, user: user)?.sequence.flatMap { try lookup.row(at: $0) }
    }

    private func place(of row: StoredRow, user: String) throws -> SamplePlace {
        SamplePlace(
            id: row.id, uuid: row.uuid, user: user, type: try types.name(row.type), sequence: row.sequence,
            born: row.born, start: Instant(microseconds: row.start), end: Instant(microseconds: row.end),
            state: "\(row.state)")
    }
}
