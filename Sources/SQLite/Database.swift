import CSQLite

/// One connection to one SQLite file.
///
/// Not thread-safe by design: SQLite is opened without its own mutex, and a connection stays on one thread. `@unchecked
/// Sendable` only so that it can be created on one thread and handed to its owner.
package final class Database: @unchecked Sendable {
    package enum Mode: Sendable {
        /// Creates the file if it doesn't exist, with SQLite's own mode (0644 less the umask): create private files
        /// first. WAL, `synchronous=FULL`: whatever is committed survives power loss.
        case readWrite
        /// The same for a file that nobody else has open: the log's index is kept in memory, not in a file beside it,
        /// for which a full disk has no room.
        case alone
        /// For pulls that run alongside the writer: reads a consistent snapshot.
        case readOnly
    }

    package let path: String
    package let isReadOnly: Bool
    let handle: OpaquePointer
    package private(set) var isInTransaction = false
    /// How many transactions were rolled back. Code that caches what it wrote must drop its cache when this number has
    /// risen.
    package private(set) var rollbackCount = 0
    /// Statements not in use at the moment, by their text, kept for reuse: most take longer to prepare than to run.
    private var spare: [String: OpaquePointer] = [:]
    private static let spareLimit = 64

    /// - Parameters:
    ///   - cacheKibibytes: this connection's page cache.
    ///   - checkpointPages: how many pages the log holds before it is copied into the file. With more pages, a writer
    ///     that touches all of a large file writes each page less often.
    ///   - pageBytes: for a new file, a power of two; an existing file keeps its own.
    /// - Throws: `SQLiteError`; with `readWrite` also if the file is cut off or isn't a database, in which case nothing
    ///   in it is changed.
    package init(
        path: String, mode: Mode = .readWrite, cacheKibibytes: Int = 4096, checkpointPages: Int = 1000,
        pageBytes: Int = 4096
    ) throws {
        _ = Self.configuration
        // Checked before SQLite has a chance to write to it.
        if mode != .readOnly, let problem = DatabaseFile.problem(at: path) {
            throw SQLiteError(damaged: path, problem)
        }
        var handle: OpaquePointer?
        let flags =
            switch mode {
            case .readWrite, .alone: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
            case .readOnly: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
            }
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
            sqlite3_close_v2(handle)
            throw SQLiteError(code: code, message: message, operation: "open", path: path)
        }
        (self.path, self.handle) = (path, handle)
        isReadOnly = mode == .readOnly
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 5000)
        do {
            if mode != .readOnly {
                // Must come first: the index is made when the log is first read.
                if mode == .alone { try execute("PRAGMA locking_mode=EXCLUSIVE") }
                try execute("PRAGMA page_size=\(pageBytes)")
                try execute("PRAGMA journal_mode=WAL")
                try execute("PRAGMA synchronous=FULL")
                try execute("PRAGMA foreign_keys=ON")
                // The size limit shrinks the log after a burst; the default interval of 4 MiB keeps the log in the
                // machine's page cache.
                try execute("PRAGMA wal_autocheckpoint=\(checkpointPages)")
                try execute("PRAGMA journal_size_limit=16777216")
            } else {
                try execute("PRAGMA query_only=ON")
            }
            try execute("PRAGMA cache_size=-\(cacheKibibytes)")
            try execute("PRAGMA temp_store=MEMORY")
        } catch {
            sqlite3_close_v2(handle)
            throw error
        }
    }

    deinit {
        for statement in spare.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Memory statistics take a global mutex for every allocation: 9 % of a bulk upsert, for figures that nobody reads.
    /// Turned off once, before the first connection; a process that has already used SQLite keeps its own setting.
    private static let configuration: Int32 = healthbus_disable_memory_statistics()

    /// Runs statements that take no values and return no rows.
    package func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw error(code, sql) }
    }

    package func prepare(_ sql: String) throws -> Statement { try Statement(sql, in: self) }

    /// An unused statement with this text; nil when there is none.
    func takeSpare(_ sql: String) -> OpaquePointer? { spare.removeValue(forKey: sql) }

    /// Takes back a statement that is no longer in use.
    func giveBack(_ statement: OpaquePointer, _ sql: String) {
        guard spare.count < Self.spareLimit, spare[sql] == nil else {
            sqlite3_finalize(statement)
            return
        }
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
        spare[sql] = statement
    }

    package var changes: Int { Int(sqlite3_changes64(handle)) }
    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Whether the path now leads to a file other than the open one, or to none: anything committed from then on is
    /// lost when this connection closes.
    package var hasMoved: Bool { healthbus_has_moved(handle) == 1 }

    /// Copies the write-ahead log into the database file and empties the log. While others use the file, less is
    /// done, without an error.
    package func checkpoint() throws { try execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    /// The first damage found inside the file; nil if it is intact. This reads the whole file.
    package func damage() throws -> String? {
        let verdict = try prepare("PRAGMA quick_check(1)").firstRow { $0.string(0) }
        return verdict == "ok" ? nil : verdict ?? "no answer"
    }

    /// Commits everything that `body` did, or nothing. Don't nest.
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run("BEGIN IMMEDIATE", body)
    }

    /// All reads in `body` see the same state of the database.
    package func readTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run("BEGIN", body)
    }

    private func run<Result>(_ begin: String, _ body: () throws -> Result) throws -> Result {
        try self.begin(begin)
        do {
            let result = try body()
            try commit()
            return result
        } catch {
            rollback()
            throw error
        }
    }

    /// Opens a transaction that `commit` or `rollback` ends, for steps that don't fit one closure.
    package func begin() throws { try begin("BEGIN IMMEDIATE") }

    private func begin(_ sql: String) throws {
        precondition(!isInTransaction, "transactions don't nest: one transaction is one step of a stage")
        try execute(sql)
        isInTransaction = true
    }

    package func commit() throws {
        try execute("COMMIT")
        isInTransaction = false
    }

    package func rollback() {
        rollbackCount += 1
        // SQLite has already rolled back after a full disk or an I/O error; a second ROLLBACK would hide the first
        // error.
        if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
        isInTransaction = false
    }

    func error(_ code: Int32, _ operation: String) -> SQLiteError {
        SQLiteError(
            code: sqlite3_extended_errcode(handle) == SQLITE_OK ? code : sqlite3_extended_errcode(handle),
            message: String(cString: sqlite3_errmsg(handle)), operation: operation, path: path)
    }
}
