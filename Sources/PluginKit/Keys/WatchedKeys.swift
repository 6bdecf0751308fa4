import Foundation
import Glibc
import HealthModel
import MessageBus
import Synchronization

/// What tells whether a file (or a folder's list) has changed since it was read.
struct FileStamp: Sendable {
    private let inode: UInt64
    private let modified: Instant
    private let takenAt: Instant
    /// A file's time is as coarse as the kernel's tick: what changed just before it was read may change again within the same one.
    private static let coarseness: Instant = 100_000

    /// To be taken before the file is read: what changes meanwhile is read the next time.
    init(_ file: String) {
        var status = stat()
        let exists = stat(file, &status) == 0
        inode = exists ? UInt64(status.st_ino) : 0
        modified = exists ? Int64(status.st_mtim.tv_sec) * Instant.second + Int64(status.st_mtim.tv_nsec) / 1000 : 0
        takenAt = WallClock.now
    }

    /// Whether what was read after this stamp still holds at a later one.
    func isSettled(asOf later: FileStamp) -> Bool {
        inode == later.inode && modified == later.modified && takenAt - modified > Self.coarseness
    }
}

/// A process's keys, read again when their files have changed: two calls to stat(2) a second cost nothing, two files read do.
final class WatchedKeys: Sendable {
    private let folder: KeyFolder
    private let name: String
    private let last = Mutex<(stamps: [FileStamp], credentials: BusCredentials)?>(nil)

    init(_ folder: KeyFolder, name: String) {
        self.folder = folder
        self.name = name
    }

    func credentials() throws -> BusCredentials {
        let environment = ProcessInfo.processInfo.environment
        let files = [
            environment.filled("HEALTHBUS_KEY_FILE") ?? folder.secret(name),
            environment.filled("HEALTHBUS_HUB_KEY_FILE") ?? folder.hubKey(name),
        ]
        let stamps = files.map { FileStamp($0) }
        if let last = last.withLock({ $0 }), zip(last.stamps, stamps).allSatisfy({ $0.isSettled(asOf: $1) }) {
            return last.credentials
        }
        let credentials = try folder.credentials(of: name, environment: environment)
        last.withLock { $0 = (stamps, credentials) }
        return credentials
    }
}
