import Foundation
import Glibc
import HealthModel
import Logging
import Protocol
import Synchronization

/// A file as seen by the command that hands it over: identifies the file, and sends its bytes piece by piece to an
/// observer that can't open it. For a pipe it keeps the bytes that may still be requested again.
package final class OfferedFile: Sendable {
    /// How many bytes fit into a message alongside its other members.
    static let pieceBytes = 60 << 10
    static let piecesPerAnswer = 4
    private static let answerBytes = pieceBytes * piecesPerAnswer
    /// How many of the requested bytes an observer may lose when it is killed: those of the answer that it was writing.
    private static let keptBytes = 2 * answerBytes

    fileprivate struct State {
        var hash = ContentHash()
        var hashedBytes: Int64 = 0
        /// For a pipe: the last bytes read, from `keptFrom` on.
        var kept: [UInt8] = []
        var keptFrom: Int64 = 0
        var isAtEnd = false
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    /// How many bytes the observer has asked for. It isn't a part of the state, which is locked while a pipe has no data
    /// yet.
    private let asked = Mutex<Int64>(0)
    /// The observer's name for the file: an absolute path, or a description.
    package let path: String
    /// nil for a pipe.
    package let identity: FileIdentity?

    /// - Parameter path: "-" is standard input.
    /// - Throws: `Unreadable`; `Failure` for standard input that is a terminal.
    package init(_ path: String) throws {
        let isStandardInput = path == "-"
        self.path = isStandardInput ? "standard input" : URL(fileURLWithPath: path).standardizedFileURL.path
        if isStandardInput, isatty(STDIN_FILENO) == 1 {
            throw Failure.usage(
                "standard input is a terminal", hint: "redirect a file into it, as in 'healthbus import - < export.zip'"
            )
        }
        descriptor = isStandardInput ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw Unreadable(code: errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw Unreadable(code: EISDIR) }
        let isWhole = status.st_mode & S_IFMT == S_IFREG && lseek(descriptor, 0, SEEK_CUR) == 0
        identity = isWhole ? FileIdentity(status) : nil
    }

    deinit { close(descriptor) }

    /// Why it can't be read: the system's error number.
    package struct Unreadable: Error, Equatable { package var code: Int32 }

    /// How many of the file's bytes have been requested, and its size if known.
    package var progress: (bytes: Int, total: Int?) {
        (Int(asked.withLock { $0 }), identity.map { Int($0.size) })
    }

    /// The pages of the answer to a `file` request.
    package func answer(from offset: Int64) -> Result<[FilePage], PullRefusal> {
        guard offset >= 0 else { return .failure(PullRefusal("a 'file' request needs 'offset'")) }
        asked.withLock { $0 = offset }
        do {
            let (bytes, whole) = try state.withLock { state in
                return try identity == nil ? pipe(from: offset, &state) : file(from: offset, &state)
            }
            return .success(Self.pages(bytes, at: offset, whole))
        } catch let refusal as PullRefusal {
            return .failure(refusal)
        } catch { return .failure(PullRefusal("\(error)")) }
    }

    private static func pages(_ bytes: [UInt8], at offset: Int64, _ whole: FilePieces.Whole?) -> [FilePage] {
        let starts = bytes.isEmpty ? [0] : Array(stride(from: 0, to: bytes.count, by: pieceBytes))
        return starts.map { start in
            let end = min(bytes.count, start + pieceBytes)
            var page = FilePage(offset: offset + Int64(start), bytes: Array(bytes[start..<end]))
            if end == bytes.count, let whole { (page.size, page.hash) = (whole.size, whole.hash) }
            return page
        }
    }

    private func file(from offset: Int64, _ state: inout State) throws -> ([UInt8], FilePieces.Whole?) {
        guard let identity else { return ([], nil) }
        // Starts from the beginning again: the bytes read before may have come from another file.
        if offset == 0 { (state.hash, state.hashedBytes) = (ContentHash(), 0) }
        while state.hashedBytes < offset {
            let skipped = try read(at: state.hashedBytes, min(Int(offset - state.hashedBytes), Self.answerBytes))
            guard !skipped.isEmpty else { throw Self.changed }
            state.add(skipped[...], at: state.hashedBytes)
        }
        let bytes = try read(at: offset, Self.answerBytes)
        state.add(bytes[...], at: offset)
        let end = offset + Int64(bytes.count)
        guard end >= identity.size || bytes.isEmpty else { return (bytes, nil) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, FileIdentity(status) == identity, end == identity.size else {
            throw Self.changed
        }
        return (bytes, .init(size: end, hash: state.hash.value))
    }

    private static let changed = PullRefusal(
        "the file is changing while it is being read; import it again once it is complete")

    private func read(at offset: Int64, _ count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let read = pread(
                    descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(offset) + off_t(filled))
                if read < 0, errno == EINTR { continue }
                guard read >= 0 else { throw PullRefusal("it can't be read: \(String(cString: strerror(errno)))") }
                if read == 0 { return }
                filled += read
            }
        }
    }

    private func pipe(from offset: Int64, _ state: inout State) throws -> ([UInt8], FilePieces.Whole?) {
        guard offset >= state.keptFrom, offset <= state.end else {
            throw PullRefusal("the data from the pipe is gone; import it again, preferably as a file")
        }
        // Reads at least one byte, and any more that are available without waiting.
        while !state.isAtEnd, state.end - offset < Self.answerBytes, state.end == offset || isReadable {
            try readMore(&state)
        }
        let surplus = Int(offset - state.keptFrom) - Self.keptBytes
        if surplus > 0 {
            state.kept.removeFirst(surplus)
            state.keptFrom += Int64(surplus)
        }
        let from = Int(offset - state.keptFrom)
        let bytes = Array(state.kept[from..<min(state.kept.count, from + Self.answerBytes)])
        let isLast = state.isAtEnd && offset + Int64(bytes.count) == state.end
        return (bytes, isLast ? .init(size: state.end, hash: state.hash.value) : nil)
    }

    private var isReadable: Bool {
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, 0) == 1
    }

    private func readMore(_ state: inout State) throws {
        var block = [UInt8](repeating: 0, count: 64 << 10)
        let count = Glibc.read(descriptor, &block, block.count)
        if count < 0, errno == EINTR { return }
        guard count >= 0 else { throw PullRefusal("the pipe can't be read: \(String(cString: strerror(errno)))") }
        state.isAtEnd = count == 0
        state.add(block[..<count], at: state.end)
        state.kept += block[..<count]
    }
}

extension OfferedFile.State {
    fileprivate var end: Int64 { keptFrom + Int64(kept.count) }

    /// Adds to the hash those bytes that it doesn't cover yet.
    fileprivate mutating func add(_ bytes: ArraySlice<UInt8>, at offset: Int64) {
        let known = Int(hashedBytes - offset)
        guard known >= 0, known < bytes.count else { return }
        bytes.dropFirst(known).withUnsafeBytes { hash.add($0) }
        hashedBytes = offset + Int64(bytes.count)
    }
}
