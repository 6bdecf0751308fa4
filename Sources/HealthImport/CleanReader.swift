import CXMLStream

/// Reads a source in blocks that contain only complete characters allowed in XML, and marks the places where it had
/// anything else.
struct CleanReader {
    static let blockSize = 256 * 1024

    private let source: any ByteSource
    private var rest: [UInt8] = []
    private var ended = false
    /// The error that ended the source, reported after the bytes before it.
    private var failure: (any Error)?
    /// How many characters have been replaced so far.
    private(set) var replaced: Int64 = 0

    init(_ source: any ByteSource) { self.source = source }

    var position: Int64 { source.position }

    /// Fills the block, which has `blockSize` bytes; returns 0 at the end. Errors of the source are thrown after all
    /// bytes that precede them.
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
        let usable = Int(healthbus_xml_clean(base, Int64(count), ended, &replaced))
        rest = Array(block[usable..<count])
        if usable == 0, let failure { throw failure }
        return usable
    }
}
