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
        guard let sequence = try sequence(uuid: id) ?? sequence(id: id) else { return nil }
        var place: SamplePlace?
        let window = SequenceWindow(after: SequenceNumber(sequence.value - 1), through: sequence)
        _ = try RowWalk(.all, in: database, blocks).run(window) { walked, _ in
            let row = walked.row
            place = SamplePlace(
                id: row.id, uuid: row.uuid, user: try users.name(walked.user), type: try types.name(row.type),
                sequence: row.sequence, born: row.born, start: Instant(microseconds: row.start),
                end: Instant(microseconds: row.end), state: "\(row.state)")
            return false
        }
        return place
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

    /// An id begins with the start time, by which the index is ordered, so one lookup per user and type is enough. Only
    /// the ids of samples before 1970 begin with 0.
    private func sequence(id: SampleID) throws -> SequenceNumber? {
        let find = try database.prepare(
            "SELECT seq FROM samples WHERE user = ? AND type = ? AND second = ? AND id = ?")
        for user in users.ids.values.sorted() {
            for type in types.ids.values.sorted() {
                let second = Int64(id.high >> 16) / 1000
                find.bind(1, user)
                find.bind(2, type)
                find.bind(3, second)
                find.bind(4, id)
                if let sequence = try find.firstRow({ SequenceNumber($0.int64(0)) }) { return sequence }
                if let (block, index) = try blocks.row(user: user, type: type, second: second, id: id) {
                    return block.row(index).sequence
                }
                if second == 0, let row = try blocks.row(before1970: id, user: user, type: type, in: database) {
                    return row.sequence
                }
            }
        }
        return nil
    }
}
