import HealthModel
import SQLite

/// The table `uuids`, which records for each HealthKit UUID the row that has it, and whether its sample was deleted
/// permanently.
final class UUIDTable {
    struct Entry {
        /// Nil if the sample was deleted before it arrived. In a store from an earlier release, the row may no longer
        /// exist.
        var sequence: SequenceNumber?
        var isDeleted: Bool
    }

    private let find: Statement
    private let write: Statement
    private let drop: Statement

    init(in database: Database) throws {
        find = try database.prepare("SELECT seq, deleted FROM uuids WHERE user = ? AND uuid = ?")
        write = try database.prepare("INSERT OR REPLACE INTO uuids VALUES (?, ?, ?, ?)")
        drop = try database.prepare("DELETE FROM uuids WHERE user = ? AND uuid = ? AND seq = ? AND deleted = 0")
    }

    // An app's request has a UUID for each sample, so values are bound one by one.

    func entry(_ uuid: SampleID, user: Int) throws -> Entry? {
        find.bind(1, user)
        find.bind(2, uuid)
        return try find.firstRow { row in
            Entry(sequence: row.optional(0).map { SequenceNumber($0) }, isDeleted: row.int64(1) != 0)
        }
    }

    func register(_ uuid: SampleID, user: Int, sequence: SequenceNumber?, isDeleted: Bool) throws {
        write.bind(1, user)
        write.bind(2, uuid)
        if let sequence { write.bind(3, sequence.value) } else { write.bindNull(3) }
        write.bind(4, isDeleted ? 1 : 0)
        try write.run()
    }

    /// A row has a new sequence, and perhaps another UUID.
    func follow(_ old: StoredRow, to row: StoredRow, user: Int) throws {
        // A UUID that the row has lost mustn't lead to its old sequence, which no row has any more. A permanent
        // deletion is never forgotten.
        if let uuid = old.uuid, uuid != row.uuid {
            drop.bind(1, user)
            drop.bind(2, uuid)
            drop.bind(3, old.sequence.value)
            try drop.run()
        }
        try register(row, user: user)
    }

    /// Records which row has its UUID, if it has any.
    func register(_ row: StoredRow, user: Int) throws {
        guard let uuid = row.uuid else { return }
        try register(uuid, user: user, sequence: row.sequence, isDeleted: row.state == .deleted)
    }
}
