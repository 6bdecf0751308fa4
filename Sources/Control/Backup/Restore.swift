import Changelog
import Configuration
import Foundation
import Glibc
import HealthModel
import Inspection
import Logging
import SQLite

/// Replaces the content of a stopped stack with a backup.
///
/// Everything is first checked and prepared next to its destination; then each instance's file is put in place in one
/// step, consumers before producers. So a restore that is killed halfway leaves a set that works: consumers may lag
/// behind their producers, but never the reverse.
package struct Restore {
    private let stack: Stack
    private let folder: String
    package let manifest: BackupManifest

    /// Reads the manifest of the backup.
    package init(_ stack: Stack, folder: String) throws {
        self.stack = stack
        self.folder = URL(fileURLWithPath: folder).standardizedFileURL.path
        guard let data = FileManager.default.contents(atPath: self.folder + "/" + BackupManifest.fileName),
            let value = try? Value(json: Array(data))
        else {
            throw Failure(
                "\(folder) isn't a backup: it has no readable \(BackupManifest.fileName)",
                hint: "give a folder that 'healthbus backup FOLDER' wrote", code: .damaged)
        }
        manifest = try BackupManifest(value, place: folder)
    }

    /// Instances whose current content would be replaced.
    package var replaced: [String] {
        manifest.entries.map(\.name).filter { FileManager.default.fileExists(atPath: stack.state.database($0)) }
    }

    /// Checks the size and checksum of every copy.
    package func check(progress: (_ done: Int64, _ total: Int64) -> Void = { _, _ in }) throws {
        let total = manifest.entries.reduce(0) { $0 + $1.bytes }
        var done: Int64 = 0
        for entry in manifest.entries {
            let path = folder + "/" + entry.file
            let (bytes, checksum) = try FileChecksum.of(path) {
                done += Int64($0)
                progress(done, total)
            }
            guard bytes == entry.bytes, checksum == entry.checksum else {
                throw Failure(
                    "\(path) has changed since the backup was made; nothing was restored", hint: "use another backup",
                    code: .damaged)
            }
        }
    }

    /// Checks everything, then puts it in place. Nothing is changed before all copies are ready.
    package func run(progress: (_ done: Int64, _ total: Int64) -> Void) throws {
        let locks = try takeLocks()
        defer { withExtendedLifetime(locks) {} }
        try check(progress: progress)
        var drafts: [(draft: String, place: String)] = []
        do {
            for entry in manifest.entries {
                let place = stack.state.database(entry.name)
                drafts.append((place + ".restored", place))
                try prepare(entry, draft: place + ".restored", place: place)
            }
        } catch {
            for (draft, _) in drafts { Self.remove(draft) }
            throw error
        }
        for (draft, place) in drafts { try Self.exchange(draft, place) }
    }

    /// The locks of the supervisor and of each instance: nothing can start in the meantime.
    private func takeLocks() throws -> [InstanceLock] {
        try StateFolder.make(stack.state.path)
        // This includes instances that aren't in the backup: while they are running, so is the stack.
        let names = ["supervisor"] + Set(stack.names + manifest.entries.map(\.name)).sorted()
        return try names.map { name in
            let folder = stack.state.instance(name)
            try StateFolder.make(folder)
            if let lock = try InstanceLock.take(folder: folder) { return lock }
            let holder = InstanceLock.holder(folder: folder).map { " (process \($0))" } ?? ""
            throw Failure(
                "'\(name)' is running in \(stack.state.path)\(holder)",
                hint: "stop the stack first with 'healthbus stop'")
        }
    }

    /// Copies one instance's file, and makes it a store that continues from there.
    private func prepare(_ entry: BackupManifest.Entry, draft: String, place: String) throws {
        Self.remove(draft)
        guard
            FileManager.default.createFile(atPath: draft, contents: nil, attributes: [.posixPermissions: 0o600])
        else {
            throw Failure("\(draft) can't be made", hint: "check the disk's free space, and that you may write there")
        }
        try Database(path: folder + "/" + entry.file, mode: .readOnly).copy(to: draft)
        _ = try CopyCheck.head(of: draft)
        try RestoredStore.begin(at: draft, replacing: place)
    }

    private static func exchange(_ draft: String, _ place: String) throws {
        // The last connection to close merges the log and removes it; a damaged store's log is removed with it.
        for end in ["-wal", "-shm"] {
            unlink(draft + end)
            unlink(place + end)
        }
        guard rename(draft, place) == 0 else {
            throw Failure(
                "\(place) can't be replaced: \(String(cString: strerror(errno)))",
                hint: "restore again: that is safe to repeat")
        }
    }

    private static func remove(_ draft: String) {
        for end in ["", "-wal", "-shm", "-journal", ".part"] { unlink(draft + end) }
    }
}
