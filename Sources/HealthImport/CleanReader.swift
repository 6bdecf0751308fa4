import CXMLStream
import Glibc

/// Reads a source in blocks that contain only whole characters allowed in XML.
struct CleanReader {
    static let blockSize = 256 * 1024

    private let source: any ByteSource
    private var rest: [UInt8] = []
    private var ended = false
    /// What ended the source, reported after the bytes before it.
    private var failure: (any Error)?
    /// How many characters have been replaced so far.
    private(set) var replaced: Int64 = 0
    /// Whether there were runs of zero bytes, which a disk or a broken copy leaves where content is lost.
    private(set) var hasGaps = false

    init(_ source: any ByteSource) { self.source = source }

    var position: Int64 { source.position }

    /// Fills the block, which has `blockSize` bytes; returns 0 at the end. Throws what the source threw, after all
    /// bytes before that.
    mutating func read(into block: UnsafeMutableBufferPointer<UInt8>) throws -> Int {
        guard let base = block.baseAddress, !ended else {
            if let failure { throw failure }
            return 0
        }
        var count = rest.count
        for (index, byte) in rest.enumerated() { block[index] = byte }
        while count < block.count {
            let tail = UnsafeMutableRawBufferPointer(start: base + count, count: block.count - count)
            do {
                let read = try source.read(into: tail)
                count += read
                ended = read == 0
            } catch {
                failure = error
                ended = true
            }
            if ended { break }
        }
        hasGaps = hasGaps || Self.hasGap(UnsafeRawBufferPointer(start: base, count: count))
        let usable = Int(healthbus_xml_clean(base, Int64(count), ended, &replaced))
        rest = Array(block[usable..<count])
        if usable == 0, let failure { throw failure }
        return usable
    }

    /// A disk block has at least 512 bytes; a single zero byte is just a mistake in a source's name.
    private static let gap = 64

    private static func hasGap(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress, var found = memchr(base, 0, bytes.count) else { return false }
        while true {
            let begin = UnsafeRawPointer(found) - base
            var end = begin
            while end < bytes.count, bytes[end] == 0 { end += 1 }
            if end - begin >= gap { return true }
            guard end < bytes.count, let next = memchr(base + end, 0, bytes.count - end) else { return false }
            found = next
        }
    }
}
