import CSQLite

/// A prepared statement. Belongs to its database's thread.
package final class Statement {
    private let database: Database
    private let handle: OpaquePointer
    private let sql: String

    init(_ sql: String, in database: Database) throws {
        var handle = database.takeSpare(sql)
        if handle == nil {
            let code = sqlite3_prepare_v3(database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
            if code != SQLITE_OK { throw database.error(code, sql) }
        }
        guard let handle else { throw database.error(SQLITE_MISUSE, sql) }
        (self.database, self.handle, self.sql) = (database, handle, sql)
    }

    deinit { database.giveBack(handle, sql) }

    // Parameters count from 1, columns from 0, as in SQLite.

    package func bind(_ index: Int, _ value: Int64) { sqlite3_bind_int64(handle, Int32(index), value) }
    package func bind(_ index: Int, _ value: Int) { sqlite3_bind_int64(handle, Int32(index), Int64(value)) }
    package func bind(_ index: Int, _ value: Double) { sqlite3_bind_double(handle, Int32(index), value) }
    package func bindNull(_ index: Int) { sqlite3_bind_null(handle, Int32(index)) }

    package func bind(_ index: Int, _ value: String) {
        var copy = value
        copy.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                _ = healthbus_bind_text(handle, Int32(index), text.baseAddress, Int32(text.count))
            }
        }
    }

    /// Binds UTF-8 bytes as text.
    package func bindText(_ index: Int, _ bytes: UnsafeRawBufferPointer) {
        bytes.withMemoryRebound(to: CChar.self) { text in
            _ = healthbus_bind_text(handle, Int32(index), text.baseAddress, Int32(text.count))
        }
    }

    package func bind(_ index: Int, _ value: [UInt8]) {
        value.withUnsafeBytes { _ = healthbus_bind_blob(handle, Int32(index), $0.baseAddress, Int32($0.count)) }
    }

    package func bind(_ index: Int, blob bytes: UnsafeRawBufferPointer) {
        _ = healthbus_bind_blob(handle, Int32(index), bytes.baseAddress, Int32(bytes.count))
    }

    /// Binds UTF-8 bytes as text without copying them: they must stay in place until `reset`, or until `rewind` if
    /// something else is bound before the next step.
    package func bindText(_ index: Int, borrowed bytes: UnsafeRawBufferPointer) {
        guard let address = bytes.baseAddress else { return bind(index, "") }
        sqlite3_bind_text(handle, Int32(index), address.assumingMemoryBound(to: CChar.self), Int32(bytes.count), nil)
    }

    /// Binds bytes as a blob without copying them, under the same condition.
    package func bind(_ index: Int, borrowedBlob bytes: UnsafeRawBufferPointer) {
        guard let address = bytes.baseAddress else { return bind(index, [UInt8]()) }
        sqlite3_bind_blob(handle, Int32(index), address, Int32(bytes.count), nil)
    }

    /// Returns true while there is a row, and false at the end.
    package func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            // Read before the reset, which would overwrite the value.
            let failure = database.error(code, sql)
            sqlite3_reset(handle)
            throw failure
        }
    }

    package func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// Prepares the statement for its next use, keeping its bindings: whatever stays the same needn't be bound again.
    package func rewind() { sqlite3_reset(handle) }

    /// Runs the statement to the end and prepares it for its next use.
    package func run() throws {
        defer { reset() }
        while try step() {}
    }

    /// Passes each row to `body`, and then prepares the statement for its next use.
    package func forEachRow(_ body: (Statement) throws -> Void) throws {
        defer { reset() }
        while try step() { try body(self) }
    }

    /// The result of `body` for the first row; nil when there is none.
    package func firstRow<Result>(_ body: (Statement) throws -> Result) throws -> Result? {
        defer { reset() }
        return try step() ? try body(self) : nil
    }

    package var columnCount: Int { Int(sqlite3_column_count(handle)) }

    package func int64(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
    package func int(_ column: Int) -> Int { Int(sqlite3_column_int64(handle, Int32(column))) }
    package func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }
    package func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }
    package func isBlob(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_BLOB }

    package func string(_ column: Int) -> String {
        withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    package func bytes(_ column: Int) -> [UInt8] { withBytes(column) { [UInt8]($0) } }

    /// Passes the column's value on as it is, as the result of a function or of a virtual table's column.
    func pass(_ column: Int, to result: OpaquePointer) {
        sqlite3_result_value(result, sqlite3_column_value(handle, Int32(column)))
    }

    /// The column's bytes, valid only inside `body`. Text is UTF-8; NULL is empty.
    package func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result
    {
        let address = sqlite3_column_blob(handle, Int32(column))
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return try body(UnsafeRawBufferPointer(start: address, count: address == nil ? 0 : count))
    }
}
