import CSQLite
import Foundation

extension Database {
    /// The number of pages per step: 4 MiB if pages have 4 KiB.
    private static let pagesPerStep: Int32 = 1024

    /// Writes the database in its current state to a new file (0600), while others may continue to write and read; an
    /// older file with that name is replaced.
    /// - Parameter progress: called with the number of bytes still to be copied; returns false to stop the copy.
    /// - Returns: the size of the copy in bytes.
    @discardableResult
    package func copy(to path: String, progress: (_ left: Int64) -> Bool = { _ in true }) throws -> Int64 {
        let draft = path + ".part"
        for end in ["", "-wal", "-shm", "-journal"] { unlink(draft + end) }
        guard
            FileManager.default.createFile(atPath: draft, contents: nil, attributes: [.posixPermissions: 0o600])
        else {
            throw SQLiteError(code: SQLITE_CANTOPEN, message: "can't be created", operation: "copy", path: draft)
        }
        var isWhole = false
        defer { if !isWhole { unlink(draft) } }
        // A read transaction keeps the state fixed; without it, each change would restart the copy.
        let bytes = try readTransaction {
            _ = try prepare("SELECT count(*) FROM sqlite_master").firstRow { $0.int(0) }
            let pageSize = try prepare("PRAGMA page_size").firstRow { $0.int64(0) } ?? 4096
            return try steps(into: draft, pageSize: pageSize, progress)
        }
        guard rename(draft, path) == 0 else {
            throw SQLiteError(
                code: SQLITE_IOERR, message: String(cString: strerror(errno)), operation: "copy", path: path)
        }
        isWhole = true
        return bytes
    }

    private func steps(into draft: String, pageSize: Int64, _ progress: (Int64) -> Bool) throws -> Int64 {
        var target: OpaquePointer?
        let opened = sqlite3_open_v2(draft, &target, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        defer { sqlite3_close_v2(target) }
        func fail(_ code: Int32) -> SQLiteError {
            SQLiteError(
                code: code, message: target.map { String(cString: sqlite3_errmsg($0)) } ?? "can't be opened",
                operation: "copy", path: draft)
        }
        guard opened == SQLITE_OK, let backup = sqlite3_backup_init(target, "main", handle, "main") else {
            throw fail(opened == SQLITE_OK ? SQLITE_ERROR : opened)
        }
        var code = SQLITE_OK
        while code == SQLITE_OK {
            code = sqlite3_backup_step(backup, Self.pagesPerStep)
            if code == SQLITE_OK, !progress(Int64(sqlite3_backup_remaining(backup)) * pageSize) {
                code = SQLITE_INTERRUPT
            }
        }
        let bytes = Int64(sqlite3_backup_pagecount(backup)) * pageSize
        let finished = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, finished == SQLITE_OK else { throw fail(code == SQLITE_DONE ? finished : code) }
        // This makes it a single file that can be read even on a read-only medium; opening it for writing makes it a
        // WAL database again.
        let settled = sqlite3_exec(target, "PRAGMA journal_mode=DELETE", nil, nil, nil)
        guard settled == SQLITE_OK else { throw fail(settled) }
        return bytes
    }
}
