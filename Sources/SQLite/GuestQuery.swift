import CSQLite

/// Runs a single statement written by a person, on a file that others write to: it can only read, and has a time limit.
///
/// The file is opened read-only, and an authorizer refuses everything except SELECT: no ATTACH, no PRAGMA, no
/// transaction.
package final class GuestQuery {
    /// Why a statement isn't run, or isn't finished.
    package enum Refusal: Error, Equatable {
        /// There is no statement.
        case empty
        /// Something follows the first statement.
        case several
        /// The statement would do something other than read.
        case notReading
        /// The query exceeded its time limit.
        case tooLong
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
    private let limit: TimeLimit
    package let columns: [String]

    /// - Parameters:
    ///   - seconds: how long it may compute; time spent by the receiver of the rows isn't counted.
    ///   - clock: seconds since some fixed moment.
    /// - Throws: `Refusal`; `SQLiteError` for a file that can't be opened.
    package init(_ sql: String, path: String, seconds: Double, clock: @escaping () -> Double) throws {
        database = try Database(path: path, mode: .readOnly)
        limit = TimeLimit(seconds: seconds, clock: clock)
        sqlite3_set_authorizer(
            database.handle,
            { _, action, _, _, _, _ in
                [SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE].contains(action)
                    ? SQLITE_OK : SQLITE_DENY
            }, nil)
        (handle, columns) = try Self.prepare(sql, database)
        // The time limit, like the connection, lives as long as this object.
        sqlite3_progress_handler(
            database.handle, 10_000,
            { limit in
                guard let limit else { return 1 }
                return Unmanaged<TimeLimit>.fromOpaque(limit).takeUnretainedValue().isOver ? 1 : 0
            }, Unmanaged.passUnretained(limit).toOpaque())
    }

    deinit {
        sqlite3_finalize(handle)
        sqlite3_progress_handler(database.handle, 0, nil, nil)
    }

    private static func prepare(_ sql: String, _ database: Database) throws -> (OpaquePointer, [String]) {
        var handle: OpaquePointer?
        var (code, rest) = (SQLITE_OK, "")
        sql.withCString { text in
            var end: UnsafePointer<CChar>?
            code = sqlite3_prepare_v2(database.handle, text, -1, &handle, &end)
            if let end { rest = String(cString: end) }
        }
        if code & 0xFF == SQLITE_AUTH { throw Refusal.notReading }
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

    /// Passes each row to `body`, one after the other.
    /// - Throws: `Refusal`, and what `body` throws; `SQLiteError` for a damaged file.
    package func forEachRow(_ body: ([Cell]) throws -> Void) throws {
        var cells = columns.map { _ in Cell.null }
        while true {
            limit.begin()
            let code = sqlite3_step(handle)
            limit.end()
            switch code {
            case SQLITE_ROW: break
            case SQLITE_DONE: return
            case let code where code & 0xFF == SQLITE_INTERRUPT: throw Refusal.tooLong
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

/// How long a query has been computing.
private final class TimeLimit {
    private let seconds: Double
    private let clock: () -> Double
    private var used = 0.0
    private var began = 0.0

    init(seconds: Double, clock: @escaping () -> Double) { (self.seconds, self.clock) = (seconds, clock) }

    func begin() { began = clock() }
    func end() { used += clock() - began }
    var isOver: Bool { used + clock() - began > seconds }
}
