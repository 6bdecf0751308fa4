import Glibc
import HealthModel

extension FileIdentity {
    /// Built from the system's own identifiers.
    package init(_ status: stat) {
        self.init(
            device: Int64(truncatingIfNeeded: status.st_dev), inode: Int64(truncatingIfNeeded: status.st_ino),
            size: Int64(status.st_size),
            modified: Instant(
                microseconds: Int64(status.st_mtim.tv_sec) * Instant.microsecondsPerSecond
                    + Int64(status.st_mtim.tv_nsec / 1000)))
    }
}
