import Foundation
import Glibc
import HealthImport
import HealthModel
import Protocol

/// A file that comes over the bus: it has a temporary name until all of it has arrived, exactly as sent.
extension Inbox {
    /// The name of a file that isn't complete yet.
    static func half(_ id: String) -> String { id + ".half" }

    private func half(_ id: String) -> String { path(Self.half(id)) }

    func measure(_ id: String) -> FileStep {
        // It was complete before a crash, but that wasn't recorded.
        if FileManager.default.fileExists(atPath: path(id)) { return .whole(id: id) }
        do {
            let descriptor = try openHalf(id)
            defer { close(descriptor) }
            return .stored(id: id, length: try length(descriptor, id))
        } catch { return .failed(id: id, reason: Self.describe(error)) }
    }

    /// Writes the pieces at their places: anything already written, by this process or an earlier one, is overwritten
    /// with the same bytes.
    func append(_ id: String, _ pieces: FilePieces) -> FileStep {
        do {
            let descriptor = try openHalf(id)
            defer { close(descriptor) }
            var offset = pieces.offset
            for piece in pieces.pieces {
                try write(piece, at: offset, descriptor, id)
                offset += Int64(piece.count)
            }
            guard let whole = pieces.whole else { return .stored(id: id, length: offset) }
            return try finish(id, descriptor, whole)
        } catch {
            // Frees space to record the failure.
            unlink(half(id))
            return .failed(id: id, reason: Self.describe(error))
        }
    }

    private func finish(_ id: String, _ descriptor: Int32, _ whole: FilePieces.Whole) throws -> FileStep {
        guard try length(descriptor, id) == whole.size, try hash(descriptor, id) == whole.hash else {
            unlink(half(id))
            return .differs(id: id)
        }
        // From here on the command may end, and the machine may crash.
        guard fsync(descriptor) == 0, rename(half(id), path(id)) == 0 else {
            throw ImportError.system(errno, path: half(id))
        }
        try syncFolder()
        return .whole(id: id)
    }

    private func openHalf(_ id: String) throws -> Int32 {
        let descriptor = open(half(id), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw ImportError.system(errno, path: half(id)) }
        return descriptor
    }

    private func length(_ descriptor: Int32, _ id: String) throws -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ImportError.system(errno, path: half(id)) }
        return Int64(status.st_size)
    }

    private func write(_ piece: [UInt8], at offset: Int64, _ descriptor: Int32, _ id: String) throws {
        var written = 0
        while written < piece.count {
            let count = piece[written...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset) + off_t(written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw InboxError.notWritten(reason: String(cString: strerror(errno))) }
            written += count
        }
    }

    /// The hash of what is on disk, not of what was received.
    private func hash(_ descriptor: Int32, _ id: String) throws -> [UInt8] {
        let hash = ContentHash()
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { block.deallocate() }
        var offset: off_t = 0
        while true {
            let count = pread(descriptor, block.baseAddress, block.count, offset)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ImportError.system(errno, path: half(id)) }
            guard count > 0 else { return hash.value }
            hash.add(UnsafeRawBufferPointer(rebasing: block[..<count]))
            offset += off_t(count)
        }
    }
}

/// Why a file's bytes couldn't be stored.
enum InboxError: Error, CustomStringConvertible {
    case notWritten(reason: String)

    var description: String {
        switch self {
        case .notWritten(let reason):
            "the observer can't store it (\(reason)); free space on the disk with its state, then import it again"
        }
    }
}
