import Digest
import Foundation
import Glibc
import HealthModel

/// Writes one file in its folder, under a temporary name that no reader looks for; it is put in place when it is
/// complete and on disk.
final class FileWriter {
    private let folder: FileFolder
    private let path: String
    private let temporary: String
    private var descriptor: Int32
    private var sum = SHA256()
    private var bytes: Int64 = 0
    private(set) var rows: Int64 = 0

    /// Whether a name is such a temporary name.
    static func isTemporary(_ name: some StringProtocol) -> Bool { name.hasPrefix(".") && name.hasSuffix(".part") }

    /// - Parameter path: relative to the folder.
    init(_ path: String, in folder: FileFolder) throws(FileProblem) {
        (self.folder, self.path) = (folder, path)
        var parts = path.split(separator: "/").map(String.init)
        parts[parts.count - 1] = "." + parts[parts.count - 1] + ".part"
        temporary = folder.path + "/" + parts.joined(separator: "/")
        try folder.makeFolders(of: path)
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileProblem(errno, at: path, in: folder.path) }
    }

    deinit { discard() }

    /// Writes nothing, but compares what would be written with the file that is there.
    init(comparing path: String, in folder: FileFolder) {
        (self.folder, self.path, temporary, descriptor) = (folder, path, "", -1)
    }

    /// How the file that is there differs from what was given; nil if it is the same.
    func difference() -> FileDifference? {
        guard rows > 0 else { return folder.has(path) ? .superfluous : nil }
        let entry = FileLedger.Entry(path: path, rows: rows, bytes: bytes, sum: sum.hexadecimal, written: .epoch)
        if folder.holds(entry, readsAll: true) { return nil }
        return folder.has(path) ? .different : .missing
    }

    func discard() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unlink(temporary)
    }

    func write(_ content: [UInt8], rows: Int64) throws(FileProblem) {
        self.rows += rows
        bytes += Int64(content.count)
        let problem: Int32 = content.withUnsafeBytes { content in
            sum.add(content)
            if temporary.isEmpty { return 0 }
            var rest = content[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? errno : EIO }
                rest = rest.dropFirst(count)
            }
            return 0
        }
        guard problem == 0 else { throw FileProblem(problem, in: folder.path) }
    }

    /// Puts the file in its place.
    /// - Parameter known: what is there now; an identical file isn't replaced.
    func finish(known: FileLedger.Entry?) throws(FileProblem) -> FileOutcome {
        let sum = sum.hexadecimal
        if let known, known.sum == sum, known.bytes == bytes, folder.holds(known, readsAll: false) {
            return .written(rows: rows, bytes: bytes, sum: sum, isChanged: false)
        }
        guard fsync(descriptor) == 0 else { throw FileProblem(errno, in: folder.path) }
        let isClosed = close(descriptor) == 0
        descriptor = -1
        guard isClosed else { throw FileProblem(errno, in: folder.path) }
        try folder.place(temporary, as: path)
        return .written(rows: rows, bytes: bytes, sum: sum, isChanged: true)
    }
}
