import HealthModel
import SQLite

/// The rows as the writer stores them: the table `samples`, the blocks, and the new rows that wait to be written. It hides
/// which of these has a row.
final class RowTable {
    let blocks: BlockTable
    let lookup: RowLookup
    private let heads: HeadLedger
    /// Reads the table of rows: user, type, first and last second.
    let bySecond: Statement
    private let insert: Statement
    private let update: Statement
    private let read: (metadata: Statement, payload: Statement)
    private let write: (metadata: Statement, payload: Statement)
    /// New rows that haven't been written yet; none is kept beyond its batch.
    private var pending = PendingBlock()
    /// If fewer new rows than this arrive at a time, they go into the table of rows.
    private let leastInBlock: Int

    init(in database: Database, _ blocks: BlockTable, _ heads: HeadLedger, leastInBlock: Int) throws {
        (self.blocks, self.heads, self.leastInBlock) = (blocks, heads, leastInBlock)
        lookup = try RowLookup(in: database, blocks)
        bySecond = try database.prepare(
            """
            SELECT \(StoredRow.columns) FROM samples INDEXED BY samples_identity
            WHERE user = ?1 AND type = ?2 AND second >= ?3 AND second <= ?4 ORDER BY second
            """)
        insert = try database.prepare(
            """
            INSERT INTO samples (user, type, seq, state, second, start_us, duration, value, origin, flags, id, unit, created,
              uuid, metadata, payload, born) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
            """)
        update = try database.prepare(
            """
            UPDATE samples SET seq = ?1, state = ?2, start_us = ?3, duration = ?4, value = ?5, unit = ?6, origin = ?7, flags = ?8,
              created = ?9, id = ?10, uuid = ?11, born = CASE born WHEN 0 THEN seq ELSE born END WHERE seq = ?12
            """)
        read = (
            try database.prepare("SELECT metadata FROM samples WHERE seq = ?"),
            try database.prepare("SELECT payload FROM samples WHERE seq = ?")
        )
        write = (
            try database.prepare("UPDATE samples SET metadata = ?2 WHERE seq = ?1"),
            try database.prepare("UPDATE samples SET payload = ?2 WHERE seq = ?1")
        )
    }

    // MARK: Writing

    /// Drops the rows that wait: their transaction was rolled back.
    func dropWaiting() { pending.removeAll() }

    /// Adds a new row, which already has its sequence. The row is written together with those that follow it, or at the
    /// end of the batch.
    /// - Parameters:
    ///   - metadata: canonical JSON, empty if there is none; likewise the payload.
    func add(
        _ row: inout StoredRow, metadata: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer, user: Int
    ) throws {
        if PendingBlock.suits(row) {
            if !pending.hasRoom(for: row) { try flush(user: user) }
            pending.append(row, metadata: metadata, payload: payload)
            row.isSealed = true
        } else {
            try insert(row, metadata: metadata, payload: payload, user: user)
            heads.note(row)
        }
    }

    /// Writes the waiting rows, as a block or one by one.
    func flush(user: Int) throws {
        if pending.isEmpty { return }
        defer { pending.removeAll() }
        if pending.rows.count >= leastInBlock, try blocks.seal(pending, user: user) { return }
        for (index, row) in pending.rows.enumerated() {
            try pending.metadata.withText(index) { metadata in
                try pending.payload.withText(index) { payload in
                    try insert(row, metadata: metadata, payload: payload, user: user)
                }
            }
            heads.note(row)
        }
    }

    private func insert(
        _ row: StoredRow, metadata: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer, user: Int
    ) throws {
        insert.bind(1, user)
        insert.bind(2, row.type)
        insert.bind(3, row.sequence.value)
        insert.bind(4, Int64(row.state.rawValue))
        insert.bind(5, row.second)
        insert.bind(6, row.startRemainder)
        insert.bind(7, row.duration)
        insert.bindNumber(8, row.value)
        insert.bind(9, row.origin)
        insert.bind(10, Int64(row.flags))
        insert.bind(11, row.id)
        insert.bind(12, row.unit)
        insert.bind(13, row.created)
        insert.bind(14, row.uuid)
        for (index, text) in [(15, metadata), (16, payload)] {
            // The text stays valid until the statement has run.
            if text.isEmpty { insert.bindNull(index) } else { insert.bindText(index, borrowed: text) }
        }
        // If both are equal, 0 is stored, because it takes up no space.
        insert.bind(17, row.born == row.sequence ? 0 : row.born.value)
        try insert.run()
    }

    /// Writes a changed row, which has a new sequence, to the table of rows. Its metadata and payload stay as they are.
    func replace(_ old: StoredRow, with row: inout StoredRow, user: Int) throws {
        row.isSealed = false
        if old.isSealed, let (block, index) = try sealed(old.sequence, user: user) {
            try block.metadata.withText(index) { metadata in
                try block.payload.withText(index) { payload in
                    try insert(row, metadata: metadata, payload: payload, user: user)
                }
            }
            try blocks.leave(old.sequence.value, of: block.place)
        } else {
            update.bind(1, row.sequence.value)
            update.bind(2, Int64(row.state.rawValue))
            update.bind(3, row.startRemainder)
            update.bind(4, row.duration)
            update.bindNumber(5, row.value)
            update.bind(6, row.unit)
            update.bind(7, row.origin)
            update.bind(8, Int64(row.flags))
            update.bind(9, row.created)
            update.bind(10, row.id)
            update.bind(11, row.uuid)
            update.bind(12, old.sequence.value)
            try update.run()
        }
        heads.note(row)
    }

    /// Replaces the metadata or payload of a row in the table of rows.
    func set(_ text: RowText, of row: StoredRow, _ bytes: [UInt8]) throws {
        let statement = text == .metadata ? write.metadata : write.payload
        statement.bind(1, row.sequence.value)
        bytes.withUnsafeBytes { statement.bindText(2, $0) }
        try statement.run()
    }

    // MARK: Reading

    /// Writes the waiting rows, and finds the row with the given sequence if it is in a block.
    private func sealed(_ sequence: SequenceNumber, user: Int) throws -> (block: SampleBlock, index: Int)? {
        try flush(user: user)
        return try blocks.row(at: sequence.value)
    }

    /// The metadata or payload of a row; empty if it has none.
    func text(_ text: RowText, of row: StoredRow, user: Int) throws -> [UInt8] {
        if row.isSealed, let (block, index) = try sealed(row.sequence, user: user) {
            return (text == .metadata ? block.metadata : block.payload).withText(index) { [UInt8]($0) }
        }
        let query = text == .metadata ? read.metadata : read.payload
        query.bind(1, row.sequence.value)
        return try query.firstRow { $0.bytes(0) } ?? []
    }

    /// The row with the given sequence, without reading its metadata and payload.
    func row(at sequence: SequenceNumber, user: Int) throws -> StoredRow? {
        try flush(user: user)
        return try lookup.row(at: sequence)
    }

    /// The row with the given id. Rows of the batch that haven't been written yet aren't found.
    func row(user: Int, type: Int, second: Int64, id: SampleID) throws -> StoredRow? {
        try lookup.row(user: user, type: type, second: second, id: id)
    }

    /// The rows of a type that start in these seconds, whatever their state.
    func rows(type: Int, startingIn seconds: ClosedRange<Int64>, user: Int) throws -> [StoredRow] {
        try flush(user: user)
        var found = try bySecond.with(user, type, seconds.lowerBound, seconds.upperBound).rows { StoredRow($0) }
        for view in try blocks.views(user: user, type: type, seconds: seconds) {
            for index in view.rows(in: seconds) where view.isHere(index) { found.append(view.block.row(index)) }
        }
        return found
    }
}

/// The columns of a row that hold text.
enum RowText { case metadata, payload }
