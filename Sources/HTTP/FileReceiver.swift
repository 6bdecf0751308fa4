import CXXHash
import Glibc

/// A body that becomes a file. The file is written as the body arrives, is safely on disk once `finish` has returned,
/// and is deleted unless it is kept.
///
/// Until it is kept it has a temporary name, in the folder where it is to stay, so that keeping it takes a single step.
/// `removeLeftovers` removes what a killed process leaves behind.
package final class FileReceiver: BodyReceiver {
    /// The number of bytes written so far.
    package private(set) var byteCount = 0
    /// The path of the file until it is kept; the file is readable once `finish` has returned.
    package let path: String
    private let folder: String
    private let failed: (String) -> Void
    private let hash: UnsafeMutableRawPointer
    private var descriptor: Int32
    private var isThere = true

    private static let prefix = ".incoming-"

    /// - Parameters:
    ///   - folder: an existing folder, on the disk where the file will stay.
    ///   - failed: receives a sentence for the operator when the disk reports an error. The client gets less detail.
    /// - Throws: 500, 507 when the disk is full, or 503 when there is no memory.
    package init(folder: String, failed: @escaping (String) -> Void) throws(HTTPRefusal) {
        let path = folder + "/" + Self.prefix + String(UInt64.random(in: .min ... .max), radix: 36)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.refusal("make a file in", folder, errno, failed) }
        guard let hash = healthbus_hash_begin() else {
            close(descriptor)
            unlink(path)
            throw .busy
        }
        (self.path, self.folder, self.failed, self.descriptor, self.hash) = (path, folder, failed, descriptor, hash)
    }

    deinit {
        abandon()
        healthbus_hash_end(hash)
    }

    package func write(_ piece: UnsafeRawBufferPointer) throws(HTTPRefusal) {
        var rest = piece[...]
        while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            let count = Glibc.write(descriptor, base, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.refusal("write to", folder, errno, failed) }
            rest = rest.dropFirst(count)
        }
        if let base = piece.baseAddress { healthbus_hash_add(hash, base, piece.count) }
        byteCount += piece.count
    }

    package func finish() throws(HTTPRefusal) {
        // Some file systems report only here that something wasn't written.
        let code = fsync(descriptor) == 0 ? 0 : errno
        let closing = close(descriptor) == 0 ? 0 : errno
        descriptor = -1
        guard code == 0, closing == 0 else {
            throw Self.refusal("write to", folder, code == 0 ? closing : code, failed)
        }
    }

    package func abandon() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        if isThere, unlink(path) != 0, errno != ENOENT {
            failed("can't remove \(path): \(String(cString: strerror(errno)))")
        }
        isThere = false
    }

    /// The XXH3-128 of what has been written so far. It identifies equal content, but doesn't protect against forgery.
    package var contentHash: (high: UInt64, low: UInt64) {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        healthbus_hash_value(hash, &words.high, &words.low)
        return words
    }

    /// Gives the finished file its final name durably, so that the file survives a power loss.
    /// - Parameter name: a file name in the folder; an existing file is never replaced.
    /// - Returns: its path.
    /// - Throws: 409 when a file with that name exists, 400 when the name leads out of the folder, and otherwise what
    ///   `init` throws.
    @discardableResult
    package func keep(as name: String) throws(HTTPRefusal) -> String {
        guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(where: { $0 == 0x2F || $0 == 0 }) else {
            throw HTTPRefusal(400, "that isn't a valid file name", hint: "give another one")
        }
        let kept = folder + "/" + name
        guard link(path, kept) == 0 else {
            if errno == EEXIST { throw HTTPRefusal(409, "this file already exists", hint: "don't send it again") }
            throw Self.refusal("name a file in", folder, errno, failed)
        }
        abandon()
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw Self.refusal("open", folder, errno, failed) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw Self.refusal("write to", folder, errno, failed) }
        return kept
    }

    /// Removes what the receivers of a killed process left behind. Call it before a server accepts bodies into the
    /// folder.
    /// - Returns: how many files were removed; nil when the folder can't be read.
    @discardableResult
    package static func removeLeftovers(in folder: String) -> Int? {
        guard let entries = opendir(folder) else { return nil }
        defer { closedir(entries) }
        var removed = 0
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name.hasPrefix(prefix), unlink(folder + "/" + name) == 0 { removed += 1 }
        }
        return removed
    }

    private static func refusal(
        _ what: String, _ path: String, _ code: Int32, _ failed: (String) -> Void
    ) -> HTTPRefusal {
        failed("can't \(what) \(path): \(String(cString: strerror(code)))")
        return [ENOSPC, EDQUOT, EFBIG].contains(code)
            ? HTTPRefusal(507, "the server's disk has no room for the body", hint: "send it again once there is room")
            : HTTPRefusal(500, "the body can't be stored", hint: "send it again later; the server's log says why")
    }
}
