import Clocks
import Foundation
import Glibc
import HealthModel
import Synchronization

/// Shows whether a file (or a folder's listing) has changed since it was read.
struct FileStamp: Sendable {
    private let inode: UInt64
    private let modified: Instant
    private let takenAt: Instant
    /// A file's modification time is only as precise as the kernel's tick: a file changed just before it was read may
    /// change again within the same tick.
    private static let coarseness = Duration.milliseconds(100)

    /// Take the stamp before reading the file, so that changes made during the read are picked up next time.
    init(_ file: String) {
        var status = stat()
        let exists = stat(file, &status) == 0
        inode = exists ? UInt64(status.st_ino) : 0
        let seconds = Int64(status.st_mtim.tv_sec)
        let modified = seconds * Instant.microsecondsPerSecond + Int64(status.st_mtim.tv_nsec) / 1000
        self.modified = Instant(microseconds: exists ? modified : 0)
        takenAt = WallClock.now
    }

    /// Whether content read after this stamp is still valid when the later stamp is taken.
    func isSettled(asOf later: FileStamp) -> Bool {
        inode == later.inode && modified == later.modified && takenAt - modified > Self.coarseness
    }
}

/// The content of some files, read again when one of them has changed. A stat(2) call each time costs next to nothing,
/// unlike reading keys and deriving others from them.
final class Watched<Content: Sendable>: Sendable {
    private let files: [String]
    private let read: @Sendable () throws -> Content
    private let last = Mutex<(stamps: [FileStamp], content: Content)?>(nil)

    init(_ files: [String], read: @escaping @Sendable () throws -> Content) { (self.files, self.read) = (files, read) }

    func current() throws -> Content {
        let stamps = files.map { FileStamp($0) }
        if let last = last.withLock({ $0 }), zip(last.stamps, stamps).allSatisfy({ $0.isSettled(asOf: $1) }) {
            return last.content
        }
        let content = try read()
        last.withLock { $0 = (stamps, content) }
        return content
    }
}
