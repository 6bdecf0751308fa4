import Glibc
import HealthModel

/// Which file a name means: told by the system's own marks, since in another container the same name is another file.
package struct FileIdentity: Equatable, Sendable {
    package var device: Int64
    package var inode: Int64
    package var size: Int64
    /// Microseconds since 1970.
    package var modified: Instant

    package init(_ status: stat) {
        device = Int64(truncatingIfNeeded: status.st_dev)
        inode = Int64(truncatingIfNeeded: status.st_ino)
        size = Int64(status.st_size)
        modified = Instant(status.st_mtim.tv_sec) * Instant.second + Instant(status.st_mtim.tv_nsec / 1000)
    }

    package var wireValue: Value {
        [
            "device": .integer(device), "inode": .integer(inode), "size": .integer(size),
            "modified": .integer(modified),
        ]
    }

    package init?(_ value: Value) {
        guard let device = value["device"].int, let inode = value["inode"].int, let size = value["size"].int,
            let modified = value["modified"].int
        else { return nil }
        (self.device, self.inode, self.size, self.modified) = (device, inode, size, modified)
    }
}
