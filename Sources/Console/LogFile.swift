import Glibc
import Synchronization

/// A log in a file of bounded size. At its limit the file gets another name, which it takes from the one before, and a new one is begun.
///
/// The process that writes is the one that turns over, between two lines: no line is lost or cut, whoever else dies, and nobody waits
/// for a reader. What a full disk doesn't take is lost.
public final class LogFile: Sendable {
    public static let limit = 4 << 20

    private let path: String
    private let limit: Int
    private let descriptor: Int32
    private let size: Mutex<Int>

    /// Where the lines before a log's first one are.
    public static func older(_ path: String) -> String { path + ".1" }

    /// - Parameter descriptor: open for appending; it stays the log's when that begins a new file.
    /// - Returns: nil when that isn't the file at `path`.
    public init?(path: String, descriptor: Int32 = STDERR_FILENO, limit: Int = LogFile.limit) {
        var open = stat()
        var named = stat()
        guard fstat(descriptor, &open) == 0, stat(path, &named) == 0, open.st_mode & S_IFMT == S_IFREG,
            open.st_dev == named.st_dev, open.st_ino == named.st_ino
        else { return nil }
        self.path = path
        self.limit = limit
        self.descriptor = descriptor
        size = Mutex(Int(open.st_size))
    }

    /// - Parameter line: with its end.
    public func write(_ line: String) {
        size.withLock { size in
            if size > 0, size + line.utf8.count > limit, turnOver() { size = 0 }
            StandardStream(descriptor: descriptor).write(line)
            size += line.utf8.count
        }
    }

    /// False when no new file can be had: then the old one grows on, and the next line tries again.
    private func turnOver() -> Bool {
        // Gone already when a try before this one failed half-way.
        guard rename(path, Self.older(path)) == 0 || errno == ENOENT else { return false }
        let new = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard new >= 0 else { return false }
        defer { close(new) }
        return dup2(new, descriptor) >= 0
    }
}
