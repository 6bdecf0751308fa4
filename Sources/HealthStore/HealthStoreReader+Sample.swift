import HealthModel
import SQLite

/// Where a sample is in the store, without what it measured.
package struct SamplePlace: Sendable, Equatable {
    package var id: SampleID
    /// HealthKit's own.
    package var uuid: SampleID?
    package var user: String
    package var type: String
    /// Of its newest change.
    package var sequence: SequenceNumber
    /// Of the change that brought it.
    package var born: SequenceNumber
    package var start: Instant
    package var end: Instant
    /// "alive", "absent" (a newer complete export lacks it), "deleted", "quarantined".
    package var state: String
}

extension HealthStoreReader {
    /// A sample by its id, or by HealthKit's UUID; nil when there is none.
    package func sample(_ id: SampleID) throws -> SamplePlace? {
        try refresh()
        let sequence = try sequence(uuid: id) ?? sequence(id: id)
        guard let sequence else { return nil }
        let read = try database.prepare("SELECT \(StoredRow.columns), user, born FROM samples WHERE seq = ?")
        read.bind(1, sequence.value)
        // Two columns behind those of a stored row.
        let (userColumn, bornColumn) = (15, 16)
        return try read.firstRow { row in
            let stored = StoredRow(row)
            let born = SequenceNumber(row.int64(bornColumn))
            return SamplePlace(
                id: stored.id, uuid: stored.uuid, user: try users.name(row.int(userColumn)),
                type: try types.name(stored.type), sequence: stored.sequence,
                born: born == .beginning ? stored.sequence : born, start: Instant(microseconds: stored.start),
                end: Instant(microseconds: stored.end),
                state: "\(stored.state)")
        }
    }

    private func sequence(uuid: SampleID) throws -> SequenceNumber? {
        let find = try database.prepare("SELECT seq FROM uuids WHERE user = ? AND uuid = ? AND seq IS NOT NULL")
        for user in users.ids.values.sorted() {
            find.bind(1, user)
            find.bind(2, uuid)
            if let sequence = try find.firstRow({ SequenceNumber($0.int64(0)) }) { return sequence }
        }
        return nil
    }

    /// An id begins with its start, which the index goes by: a look a user and type.
    private func sequence(id: SampleID) throws -> SequenceNumber? {
        let find = try database.prepare(
            "SELECT seq FROM samples WHERE user = ? AND type = ? AND second = ? AND id = ?")
        for user in users.ids.values.sorted() {
            for type in types.ids.values.sorted() {
                find.bind(1, user)
                find.bind(2, type)
                find.bind(3, Int64(id.high >> 16) / 1000)
                find.bind(4, id)
                if let sequence = try find.firstRow({ SequenceNumber($0.int64(0)) }) { return sequence }
            }
        }
        return nil
    }
}
