import HealthModel
import SQLite

// These methods hide whether a row is in a block or in the table of rows.
extension HealthStoreWriter {
    /// Adds a new row, which already has its sequence. The row is written together with those that follow it, or at the
    /// end of the batch.
    /// - Parameters:
    ///   - metadata: canonical JSON, empty if there is none; likewise the payload.
    func add(
        _ row: inout StoredRow, metadata: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer, user: Int
    ) throws {
        guard PendingBlock.suits(row) else {
            return try insert(row, metadata: metadata, payload: payload, user: user)
        }
        if !pending.hasRoom(for: row) { try flushPending(user: user) }
        pending.append(row, metadata: metadata, payload: payload)
        row.isSealed = true
    }

    /// Writes the waiting rows, as a block or one by one.
    func flushPending(user: Int) throws {
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
        let insert = statements.insert
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

    /// Writes a changed row as a new version. Its metadata and payload stay as they are.
    func rewrite(_ row: inout StoredRow, was old: StoredRow, user: Int) throws {
        row.sequence = nextSequence()
        row.isSealed = false
        if old.isSealed, let (block, index) = try sealed(old.sequence, user: user) {
            try block.metadata.withText(index) { metadata in
                try block.payload.withText(index) { payload in
                    try insert(row, metadata: metadata, payload: payload, user: user)
                }
            }
            try blocks.leave(old.sequence.value, of: block)
        } else {
            try update(row, was: old)
        }
        try follow(old, to: row, user: user)
        heads.note(row)
    }

    private func update(_ row: StoredRow, was old: StoredRow) throws {
        let update = statements.update
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

    /// Writes the waiting rows, and finds the row with the given sequence if it is in a block.
    private func sealed(_ sequence: SequenceNumber, user: Int) throws -> (block: SampleBlock, index: Int)? {
        try flushPending(user: user)
        return try blocks.row(at: sequence.value)
    }

    /// The metadata or payload of a row; empty if it has none.
    func text(_ text: RowText, of row: StoredRow, user: Int) throws -> [UInt8] {
        if row.isSealed, let (block, index) = try sealed(row.sequence, user: user) {
            return (text == .metadata ? block.metadata : block.payload).withText(index) { [UInt8]($0) }
        }
        let query = text == .metadata ? statements.metadata : statements.payload
        query.bind(1, row.sequence.value)
        return try query.firstRow { $0.bytes(0) } ?? []
    }

    /// Replaces the metadata or payload of a row in the table of rows.
    func set(_ text: RowText, of row: StoredRow, _ bytes: [UInt8]) throws {
        let statement = text == .metadata ? statements.setMetadata : statements.setPayload
        statement.bind(1, row.sequence.value)
        bytes.withUnsafeBytes { statement.bindText(2, $0) }
        try statement.run()
    }

    /// The row with the given sequence, without reading its metadata and payload.
    func row(at sequence: SequenceNumber, user: Int) throws -> StoredRow? {
        if let (block, index) = try sealed(sequence, user: user) { return block.row(index) }
        statements.rowAtSequence.bind(1, sequence.value)
        return try statements.rowAtSequence.firstRow { StoredRow($0) }
    }

    /// The row with the given id. Rows of the batch that haven't been written yet aren't found.
    func row(user: Int, type: Int, second: Int64, id: SampleID) throws -> StoredRow? {
        if let row = try looseRow(user: user, type: type, second: second, id: id) { return row }
        return try blocks.row(user: user, type: type, second: second, id: id).map { $0.block.row($0.index) }
    }

    /// The same as above, but only in the table of rows.
    func looseRow(user: Int, type: Int, second: Int64, id: SampleID) throws -> StoredRow? {
        let query = statements.rowByID
        query.bind(1, user)
        query.bind(2, type)
        query.bind(3, second)
        query.bind(4, id)
        return try query.firstRow { StoredRow($0) }
    }
}

/// The columns of a row that hold text.
enum RowText { case metadata, payload }
