import CSQLite

/// Runs a single statement written by a person, on a file that others write to: it can only read.
///
/// The file is opened read-only, and an authorizer refuses everything except SELECT: no ATTACH, no PRAGMA, no
/// transaction. A single function may take any time and memory without SQLite noticing, so both must be limited from
/// outside: run it in a process of its own.
package final class GuestQuery {
    /// Why a statement isn't run, or isn't finished.
    package enum Refusal: Error, Equatable {
        /// There is no statement.
        case empty
        /// Something follows the first statement.
        case several
        /// The statement would do something other than read.
        case notReading
        /// The process got no more memory.
        case tooLarge
        /// SQLite's own message: "no such column: x".
        case wrong(String)
    }

    /// A value, valid until the next row.
    package enum Cell {
        case null
        case integer(Int64)
        case real(Double)
        case text(UnsafeRawBufferPointer)
        case blob(UnsafeRawBufferPointer)
    }

    private let database: Database
    private let handle: OpaquePointer
    package let columns: [String]

    /// - Parameter prepare: gives the connection tables of its own, which go before those in the file.
    /// - Throws: `Refusal`; `SQLiteError` for a file that can't be opened.
    package init(_ sql: String, path: String, prepare: (Database) throws -> Void = { _ in }) throws {
        database = try Database(path: path, mode: .readOnly)
        // Even a table in memory counts as writing.
        try database.execute("PRAGMA query_only=OFF")
        try prepare(database)
        // Whatever the statement reads, it sees one state of the file.
        try database.execute("PRAGMA query_only=ON; BEGIN")
        sqlite3_set_authorizer(
            database.handle,
            { _, action, _, _, _, _ in
                [SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE].contains(action)
                    ? SQLITE_OK : SQLITE_DENY
            }, nil)
        (handle, columns) = try Self.prepare(sql, database)
    }

    deinit { sqlite3_finalize(handle) }

    private static func prepare(_ sql: String, _ database: Database) throws -> (OpaquePointer, [String]) {
        var handle: OpaquePointer?
        var (code, rest) = (SQLITE_OK, "")
        sql.withCString { text in
            var end: UnsafePointer<CChar>?
            code = sqlite3_prepare_v2(database.handle, text, -1, &handle, &end)
            if let end { rest = String(cString: end) }
        }
        if code & 0xFF == SQLITE_AUTH { throw Refusal.notReading }
        if isOutOfMemory(code) { throw Refusal.tooLarge }
        guard code == SQLITE_OK else { throw Refusal.wrong(String(cString: sqlite3_errmsg(database.handle))) }
        guard let handle else { throw Refusal.empty }
        // Comments and white space may follow the statement.
        var second: OpaquePointer?
        let isAlone = sqlite3_prepare_v2(database.handle, rest, -1, &second, nil) == SQLITE_OK && second == nil
        sqlite3_finalize(second)
        guard isAlone, sqlite3_stmt_readonly(handle) != 0, sqlite3_column_count(handle) > 0 else {
            sqlite3_finalize(handle)
            throw isAlone ? Refusal.notReading : Refusal.several
        }
        return (
            handle,
            (0..<sqlite3_column_count(handle)).map { sqlite3_column_name(handle, $0).map { String(cString: $0) } ?? "" }
        )
    }

    private static func isOutOfMemory(_ code: Int32) -> Bool {
        code & 0xFF == SQLITE_NOMEM || code == SQLITE_IOERR | 12 << 8  // SQLITE_IOERR_NOMEM
    }

    /// Passes each row to `body`, one after the other.
    /// - Throws: `Refusal`, and what `body` throws; `SQLiteError` for a damaged file.
    package func forEachRow(_ body: ([Cell]) throws -> Void) throws {
        var cells = columns.map { _ in Cell.null }
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: break
            case SQLITE_DONE: return
            case let code where Self.isOutOfMemory(code): throw Refusal.tooLarge
            case let code where [SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_TOOBIG].contains(code & 0xFF):
                throw Refusal.wrong(String(cString: sqlite3_errmsg(database.handle)))
            case let code: throw database.error(code, "query")
            }
            for index in cells.indices { cells[index] = cell(Int32(index)) }
            try body(cells)
        }
    }

    private func cell(_ column: Int32) -> Cell {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
        case SQLITE_NULL: return .null
        case let type:
            let address = sqlite3_column_blob(handle, column)
            let count = address == nil ? 0 : Int(sqlite3_column_bytes(handle, column))
            let bytes = UnsafeRawBufferPointer(start: address, count: count)
            return type == SQLITE_TEXT ? .text(bytes) : .blob(bytes)
        }
    }
}
