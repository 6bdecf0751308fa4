import Foundation

/// A stream of bytes that is read on one thread.
protocol ByteSource: AnyObject {
    /// Fills at least one byte; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
    /// Bytes of the input file that have been read, for progress.
    var position: Int64 { get }
}

/// A file, from where its descriptor stands.
final class FileSource: ByteSource {
    private let descriptor: Int32
    private let path: String
    private(set) var position: Int64 = 0

    /// Doesn't own the descriptor.
    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

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

/// Bytes that were read already to find out what they are, then the rest of their source.
final class PrefixedSource: ByteSource {
    private var prefix: ArraySlice<UInt8>
    private let rest: any ByteSource

    init(prefix: [UInt8], rest: any ByteSource) {
        self.prefix = prefix[...]
        self.rest = rest
    }

    var position: Int64 { rest.position }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard !prefix.isEmpty else { return try rest.read(into: buffer) }
        let count = min(prefix.count, buffer.count)
        buffer.copyBytes(from: prefix.prefix(count))
        prefix = prefix.dropFirst(count)
        return count
    }
}

extension ByteSource {
    /// The first bytes, up to a limit.
    func head(_ limit: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        try bytes.withUnsafeMutableBytes { buffer in
            while count < limit {
                let read = try self.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                if read == 0 { break }
                count += read
            }
        }
        bytes.removeLast(limit - count)
        return bytes
    }
}
