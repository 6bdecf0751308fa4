import CSQLite

/// What SQLite refused, on which database, during which operation.
package struct SQLiteError: Error, CustomStringConvertible {
    /// SQLite's extended result code.
    package let code: Int32
    package let message: String
    /// What was being done: the SQL, or a word such as "open", "copy" or "query".
    package let operation: String
    package let path: String

    /// For a file whose content isn't what was once written to it.
    /// - Parameter message: why.
    package init(damaged path: String, _ message: String) {
        self.init(code: SQLITE_CORRUPT, message: message, operation: "open", path: path)
    }

    init(code: Int32, message: String, operation: String, path: String) {
        (self.code, self.message, self.operation, self.path) = (code, message, operation, path)
    }

    /// The result code without its extension: SQLITE_FULL, SQLITE_BUSY, …
    package var primaryCode: Int32 { code & 0xFF }
    package var isFull: Bool { primaryCode == SQLITE_FULL }
    /// Whether the disk may be to blame: a full one is also reported as a failure to write a file or to enlarge it.
    package var lacksRoom: Bool { isFull || primaryCode == SQLITE_IOERR }
    package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }
    /// Whether the file itself is damaged, or isn't a database.
    package var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

    package var hint: String {
        switch primaryCode {
        case SQLITE_FULL, SQLITE_IOERR:
            "free some space on the disk that holds it, then start again: nothing committed is lost"
        case SQLITE_BUSY, SQLITE_LOCKED: "another process holds it; stop that one first"
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM: "check that the folder exists and that you may write to it"
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            "restore a backup with 'healthbus restore BACKUP', or move its folder aside"
        default: ""
        }
    }

    package var description: String {
        "\(path): \(message) (SQLite \(code)) in: \(operation)" + (hint.isEmpty ? "" : "; \(hint)")
    }
}
