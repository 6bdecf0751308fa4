import Foundation

/// A stream of bytes that is read on one thread.
protocol ByteSource: AnyObject {
    /// Reads at least one byte; returns 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
    /// How many bytes of the input file have been read, for progress.
    var position: Int64 { get }
}

extension ByteSource {
    /// The next bytes, at most this many; none at the end.
    func block(_ limit: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = try read(into: UnsafeMutableRawBufferPointer(buffer))
        }
    }
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
    /// Whether the head is the whole content.
    let isWhole: Bool
    private var used = 0
    private let rest: any ByteSource

    init(_ source: any ByteSource, limit: Int = ContentKind.sniffLength) {
        var head: [UInt8] = []
        var isAtEnd = false
        var failure: (any Error)?
        do {
            while !isAtEnd, head.count < limit {
                let more = try source.block(min(limit - head.count, 256 << 10))
                head += more
                isAtEnd = more.isEmpty
            }
        } catch { failure = error }
        (self.head, self.failure, isWhole, rest) = (head, failure, isAtEnd, source)
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

/// Bytes in memory.
final class MemorySource: ByteSource {
    private var rest: ArraySlice<UInt8>
    private(set) var position: Int64 = 0

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let part = rest.prefix(buffer.count)
        buffer.copyBytes(from: part)
        rest = rest.dropFirst(part.count)
        position += Int64(part.count)
        return part.count
    }
}
