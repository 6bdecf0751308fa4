import Foundation
import Glibc
import MessageBus
import Synchronization

/// A process's keys, read again when their files have changed: two calls to stat(2) a second cost nothing, two files read do.
final class WatchedKeys: Sendable {
    private struct Stamp: Equatable {
        var inode: UInt64
        var seconds: Int
        var nanoseconds: Int
    }

    private let folder: KeyFolder
    private let name: String
    private let last = Mutex<(stamps: [Stamp?], credentials: BusCredentials)?>(nil)

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
        // Before they are read: what changes meanwhile is read the next time.
        let stamps = files.map(Self.stamp)
        if let last = last.withLock({ $0 }), last.stamps == stamps { return last.credentials }
        let credentials = try folder.credentials(of: name, environment: environment)
        last.withLock { $0 = (stamps, credentials) }
        return credentials
    }

    private static func stamp(_ file: String) -> Stamp? {
        var status = stat()
        guard stat(file, &status) == 0 else { return nil }
        return Stamp(
            inode: UInt64(status.st_ino), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }
}
