import HealthModel
import SQLite

/// Finds rows by sequence or id, whether they are in blocks or in the table of rows.
final class RowLookup {
    private let database: Database
    private let blocks: BlockTable
    private let atSequence: Statement
    private let byID: Statement

    init(in database: Database, _ blocks: BlockTable) throws {
        (self.database, self.blocks) = (database, blocks)
        atSequence = try database.prepare("SELECT \(StoredRow.columns) FROM samples WHERE seq = ?")
        byID = try database.prepare(
            """
            SELECT \(StoredRow.columns) FROM samples INDEXED BY samples_identity
            WHERE user = ?1 AND type = ?2 AND second = ?3 AND id = ?4
            """)
    }

    /// The row with the given sequence, without reading its metadata and payload.
    func row(at sequence: SequenceNumber) throws -> StoredRow? {
        if let (block, index) = try blocks.row(at: sequence.value) { return block.row(index) }
        atSequence.bind(1, sequence.value)
        return try atSequence.firstRow { StoredRow($0) }
    }

    /// The row with the given id.
    func row(user: Int, type: Int, second: Int64, id: SampleID) throws -> StoredRow? {
        try looseRow(user: user, type: type, second: second, id: id)
            ?? blocks.row(user: user, type: type, second: second, id: id)
    }

    /// The row with an id, whatever its second.
    func row(id: SampleID, among types: [Int], user: Int) throws -> StoredRow? {
        // An id begins with the start in milliseconds, or with 0 if that was before 1970.
        let second = id.startSecond
        // The table of rows is searched first: it has an index, and only it contains quarantined or deleted samples.
        for type in types {
            if let row = try looseRow(user: user, type: type, second: second, id: id) { return row }
            if second == 0, let row = try row(before1970: id, user: user, type: type) { return row }
        }
        for type in types {
            if let row = try blocks.row(user: user, type: type, second: second, id: id) { return row }
        }
        return nil
    }

    private func looseRow(user: Int, type: Int, second: Int64, id: SampleID) throws -> StoredRow? {
        byID.bind(1, user)
        byID.bind(2, type)
        byID.bind(3, second)
        byID.bind(4, id)
        return try byID.firstRow { StoredRow($0) }
    }

    /// Such ids begin with 0 instead of a time, so all rows before 1970 are searched.
    private func row(before1970 id: SampleID, user: Int, type: Int) throws -> StoredRow? {
        let query = try database.prepare(
            "SELECT \(StoredRow.columns) FROM samples WHERE user = ? AND type = ? AND second < 0 AND id = ?")
        if let row = try query.with(user, type, id).firstRow({ StoredRow($0) }) { return row }
        for view in try blocks.views(user: user, type: type, seconds: Int64.min...(-1)) {
            let index = view.block.id.indices.first { view.block.id[$0] == id && view.isHere($0) }
            if let index { return view.block.row(index) }
        }
        return nil
    }
}

extension SampleID {
    /// The second in which its sample starts, as far as the id says: 0 if that was before 1970.
    var startSecond: Int64 { Int64(high >> 16) / 1000 }
}
