import CSQLite
import Foundation
import Glibc
import Synchronization

/// What a disk holds after a power loss: each file as it was when it was last synced.
///
/// A SQLite VFS that passes everything on, and copies a file to `<file>.synced` whenever it is synced. The VFS becomes
/// the default for the whole process, so a test installs it in a process of its own (an exit test).
enum SyncedDisk {
    /// `@unchecked`: SQLite's tables of functions exist for the life of the process and never change.
    private struct Open: @unchecked Sendable {
        var methods: UnsafePointer<sqlite3_io_methods>
        var path: String
    }

    /// Keyed by the address of SQLite's handle.
    private static let open = Mutex<[UInt: Open]>([:])
    nonisolated(unsafe) private static var original: UnsafeMutablePointer<sqlite3_vfs>?

    static func install() {
        guard original == nil, let found = sqlite3_vfs_find(nil) else { return }
        original = found
        let new = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        new.initialize(to: found.pointee)
        new.pointee.pNext = nil
        new.pointee.zName = UnsafePointer(strdup("synced-disk"))
        new.pointee.xOpen = { vfs, name, file, flags, outFlags in
            guard let file, let open = SyncedDisk.original?.pointee.xOpen else { return SQLITE_CANTOPEN }
            let code = open(vfs, name, file, flags, outFlags)
            if code == SQLITE_OK, let name { SyncedDisk.watch(file, path: String(cString: name)) }
            return code
        }
        sqlite3_vfs_register(new, 1)
    }

    /// Handles are reused after they are closed, so the newest name counts.
    private static func watch(_ file: UnsafeMutablePointer<sqlite3_file>, path: String) {
        guard let methods = file.pointee.pMethods else { return }
        open.withLock { $0[UInt(bitPattern: file)] = Open(methods: methods, path: path) }
        let own = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        own.initialize(to: methods.pointee)
        own.pointee.xSync = { file, flags in SyncedDisk.sync(file, flags) }
        file.pointee.pMethods = UnsafePointer(own)
    }

    private static func sync(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
        guard let file, let open = open.withLock({ $0[UInt(bitPattern: file)] }) else { return SQLITE_IOERR }
        let code = open.methods.pointee.xSync?(file, flags) ?? SQLITE_IOERR
        let copied = FileManager.default.contents(atPath: open.path)
            .map { FileManager.default.createFile(atPath: open.path + ".synced", contents: $0) }
        return copied == true ? code : SQLITE_IOERR
    }

    /// Copies a database's files as a power loss at this moment would leave them.
    /// - Parameter path: the path of the new file; its folder must exist.
    static func revive(_ database: String, as path: String) throws {
        for end in ["", "-wal"] {
            let synced = database + end + ".synced"
            guard FileManager.default.fileExists(atPath: synced) else { continue }
            try FileManager.default.copyItem(atPath: synced, toPath: path + end)
        }
    }
}
