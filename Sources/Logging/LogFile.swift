import Glibc
import Synchronization

/// A log in a file of bounded size. When it reaches its limit, the file is renamed, replacing the previously renamed
/// one, and a new file is begun.
///
/// The writing process itself begins the new file, between two lines: no line is lost or cut, no matter which process
/// dies, and no process waits for a reader. Lines that don't fit on a full disk are lost.
package final class LogFile: Sendable {
    package static let limit = 4 << 20

    private let path: String
    private let limit: Int
    private let descriptor: Int32
    private let lock = Mutex(())

    /// The path of the file that holds the lines before the first one in the current file.
    package static func older(_ path: String) -> String { path + ".1" }

    /// - Parameter descriptor: open for appending; the log keeps using it when it begins a new file.
    /// - Returns: nil if the descriptor doesn't refer to the file at `path`.
    package init?(path: String, descriptor: Int32 = STDERR_FILENO, limit: Int = LogFile.limit) {
        (self.path, self.limit, self.descriptor) = (path, limit, descriptor)
        guard size != nil else { return nil }
    }

    /// - Parameter line: the line including its newline.
    package func write(_ line: String) {
        lock.withLock { _ in
            switch size {
            // Another process of this instance, about to take over or already replaced, has begun a new file.
            case nil: begin()
            case let size? where size > 0 && size + line.utf8.count > limit:
                if rename(path, Self.older(path)) == 0 { begin() }
            default: break
            }
            StandardStream(descriptor: descriptor).write(line)
        }
    }

    /// The length of the file; nil when the descriptor refers to a different file.
    private var size: Int? {
        var open = stat()
        var named = stat()
        guard fstat(descriptor, &open) == 0, stat(path, &named) == 0, open.st_mode & S_IFMT == S_IFREG,
            open.st_dev == named.st_dev, open.st_ino == named.st_ino
        else { return nil }
        return Int(open.st_size)
    }

    /// Switches to the file at `path`, creating it if need be; if that fails, the next line tries again.
    private func begin() {
        let new = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard new >= 0 else { return }
        defer { close(new) }
        dup2(new, descriptor)
    }
}
