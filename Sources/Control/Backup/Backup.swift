import Changelog
import Client
import Clocks
import Configuration
import Foundation
import Glibc
import HealthModel
import Inspection
import Logging
import Protocol
import SQLite

/// Makes a consistent set of copies of a stack's files, whether it is running or stopped, without stopping anything.
///
/// Consumers are copied before their producers, so no anchor in the set is beyond the copy of its upstream, and
/// everything that a stage had consumed is included. The backend isn't part of the set: it is at the receiving end, and
/// when it is empty, an uploader notices and fills it again. Secrets, and files waiting in the inbox, aren't part of it
/// either.
package struct Backup {
    private let stack: Stack
    /// The target folder, which must be empty or not exist yet.
    private let folder: String

    package init(_ stack: Stack, folder: String) {
        self.stack = stack
        self.folder = URL(fileURLWithPath: folder).standardizedFileURL.path
    }

    /// Instances with a store of their own, consumers before producers.
    package static func order(_ configuration: StackConfiguration) -> [StackConfiguration.Instance] {
        let ranks: [Manifest.Kind] = [.notifier, .uploader, .consolidator, .handler, .debouncer, .observer]
        return ranks.flatMap { kind in configuration.instances.filter { $0.manifest.kind == kind } }
    }

    package struct Made: Sendable {
        package var manifest: BackupManifest
        package var folder: String
        /// Whether an import was in progress: its file isn't part of the backup.
        package var hasOpenImport: Bool
        package var bytes: Int64 { manifest.entries.reduce(0) { $0 + $1.bytes } }
    }

    /// - Parameter progress: bytes copied so far, and roughly how many in total.
    /// - Throws: `Failure`; an unfinished backup leaves nothing behind.
    package func make(progress: (_ done: Int64, _ total: Int64) -> Void) throws -> Made {
        let instances = Self.order(stack.configuration).filter {
            FileManager.default.fileExists(atPath: stack.state.database($0.name))
        }
        guard instances.contains(where: { $0.manifest.kind == .observer }) else {
            throw Failure("there is nothing to back up in \(stack.state.path)", hint: "name its folder with --state")
        }
        let lock = try takeLock()
        try prepare()
        let id = UUID().uuidString.lowercased()
        let drafts = stack.state.backups + "/" + id
        defer {
            try? FileManager.default.removeItem(atPath: drafts)
            withExtendedLifetime(lock) {}
        }
        let client = RepairClient(stack)
        defer { client.close() }
        let total = instances.reduce(Int64(0)) { $0 + Self.size(stack.state.database($1.name)) }
        var manifest = BackupManifest(made: WallClock.now, entries: [])
        var done: Int64 = 0
        do {
            for instance in instances {
                let size = Self.size(stack.state.database(instance.name))
                // Even a stopped instance is copied by its own program, under its lock.
                var request = RepairClient.request("backup")
                request.folder = id
                _ = try client.repair(instance, request) { left in
                    progress(done + max(0, size - left), total)
                }
                let copy = "\(drafts)/\(instance.name).sqlite"
                manifest.entries.append(try check(copy, instance))
                try move(copy, to: "\(folder)/\(instance.name).sqlite")
                done += size
                progress(done, total)
            }
            try write(manifest)
        } catch {
            discard(instances)
            throw error
        }
        return Made(manifest: manifest, folder: folder, hasOpenImport: try hasOpenImport())
    }

    static func size(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Only one backup runs at a time, so anything found where stages write their copies was left by a backup that was
    /// killed.
    private func takeLock() throws -> InstanceLock {
        let folder = stack.state.backups
        try StateFolder.make(folder)
        guard let lock = try InstanceLock.take(folder: folder) else {
            throw Failure("another backup of this stack is being made", hint: "wait until it is done")
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name != "lock" {
            try FileManager.default.removeItem(atPath: folder + "/" + name)
        }
        return lock
    }

    private func prepare() throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: folder) {
            guard let names = try? manager.contentsOfDirectory(atPath: folder) else {
                throw Failure("\(folder) isn't a folder", hint: "name one that doesn't exist yet")
            }
            guard names.isEmpty else {
                throw Failure("\(folder) isn't empty", hint: "name one that doesn't exist yet: nothing is overwritten")
            }
        }
        try Self.makeFolder(folder)
    }

    /// - Throws: `Failure`, without the advice to choose another --state, which is the stack and not where it is copied.
    package static func makeFolder(_ path: String) throws(Failure) {
        do { try StateFolder.make(path) } catch {
            throw Failure("\(path) \(error.reason)", hint: "choose another folder")
        }
    }

    /// Checks whether the copy is complete, and returns what the manifest says about it.
    private func check(_ copy: String, _ instance: StackConfiguration.Instance) throws -> BackupManifest.Entry {
        let head = try CopyCheck.head(of: copy)
        let (bytes, checksum) = try FileChecksum.of(copy)
        return .init(
            name: instance.name, plugin: instance.manifest.name, bytes: bytes, checksum: checksum, head: head)
    }

    private func move(_ copy: String, to place: String) throws {
        if rename(copy, place) == 0 { return }
        // The copy and its destination may be on different file systems.
        do { try FileManager.default.copyItem(atPath: copy, toPath: place) } catch {
            throw Failure(
                "\(place) can't be written: \(error.localizedDescription)", hint: "free space, or choose another folder"
            )
        }
        chmod(place, 0o600)
        unlink(copy)
    }

    /// This is written last: a folder without it isn't a backup.
    private func write(_ manifest: BackupManifest) throws {
        let path = folder + "/" + BackupManifest.fileName
        let made = FileManager.default.createFile(
            atPath: path, contents: Data((manifest.value.json(pretty: true) + "\n").utf8),
            attributes: [.posixPermissions: 0o600])
        guard made else { throw Failure("\(path) can't be written", hint: "free space, or choose another folder") }
        // The backup is on disk before it is reported as made.
        for name in manifest.entries.map(\.file) + [BackupManifest.fileName, "."] {
            let descriptor = open(folder + "/" + name, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0, fsync(descriptor) == 0 else {
                throw Failure("\(folder)/\(name) can't be written: \(String(cString: strerror(errno)))")
            }
            close(descriptor)
        }
    }

    private func discard(_ instances: [StackConfiguration.Instance]) {
        for name in instances.map({ $0.name + ".sqlite" }) + [BackupManifest.fileName] { unlink(folder + "/" + name) }
        rmdir(folder)
    }

    private func hasOpenImport() throws -> Bool {
        let pages = try stack.reader().pages(try stack.instance(.observer), .imports())
        return pages.flatMap(\.imports).contains { $0.state.isUnderWay }
    }
}

/// Whether a copy is a complete store.
enum CopyCheck {
    /// - Throws: `Failure` (damaged).
    static func head(of copy: String) throws -> StoreHead {
        do {
            let database = try Database(path: copy, mode: .readOnly)
            if let damage = try database.damage() {
                throw Failure("\(copy) is damaged: \(damage)", hint: "use another backup", code: .damaged)
            }
            return try StageDatabase.readHead(in: database).head
        } catch let error as SQLiteError {
            throw Failure("\(copy) is damaged: \(error.message)", hint: "use another backup", code: .damaged)
        }
    }
}
