import Foundation

/// A stream of bytes that is read on one thread.
protocol ByteSource: AnyObject {
    /// Reads at least one byte; returns 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
    /// How many bytes of the input file have been read, for progress.
    var position: Int64 { get }
}

/// A file, from its descriptor's current position.
final class FileSource: ByteSource {
    private let descriptor: Int32
    private let path: String
    private(set) var position: Int64 = 0

    /// Doesn't own the descriptor.
    init(descriptor: Int32, path: String) { (self.descriptor, self.path) = (descriptor, path) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 {
                position += Int64(count)
                return count
            }
            if errno != EINTR { throw ImportError.system(errno, path: path) }
        }
    }
}

/// A source whose first bytes have been inspected; reading it still starts with those bytes.
final class PeekedSource: ByteSource {
    /// The first bytes of the source.
    let head: [UInt8]
    /// The error that ended the head early; thrown again after the head's bytes.
    let failure: (any Error)?
    private var used = 0
    private let rest: any ByteSource

    init(_ source: any ByteSource, limit: Int = ContentKind.sniffLength) {
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        var failure: (any Error)?
        bytes.withUnsafeMutableBytes { buffer in
            while count < limit, failure == nil {
                do {
                    let read = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                    if read == 0 { break }
                    count += read
                } catch { failure = error }
            }
        }
        bytes.removeLast(limit - count)
        head = bytes
        self.failure = failure
        rest = source
    }

    var position: Int64 { rest.position }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard used < head.count else {
            if let failure { throw failure }
            return try rest.read(into: buffer)
        }
        let part = head[used...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        used += part.count
        return part.count
    }
}
