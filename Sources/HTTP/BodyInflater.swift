import CZlib

/// Inflates a body while it arrives, in a buffer of its own, and stops if the body is designed to inflate enormously.
final class BodyInflater {
    private let coding: ContentCoding
    private let ratio: Int
    /// zlib remembers the stream's address, so the stream mustn't move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 << 10, alignment: 16)
    private var taken = 0
    private var made = 0
    /// Whether a whole stream has been read. In gzip, another may follow; in deflate, none may.
    private var isAtEnd = false

    /// The size that every body may grow to, however little was sent, because short texts compress well.
    private static let alwaysAllowed = 1 << 20

    /// - Parameter ratio: beyond 1 MiB, a body may be at most this many times as long as what was sent; deflate's
    ///   maximum is about 1,030.
    /// - Throws: 503 when there is no memory.
    init(_ coding: ContentCoding, ratio: Int) throws(HTTPRefusal) {
        self.coding = coding
        self.ratio = max(ratio, 1)
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 means windows of any size; adding 16 selects gzip's header and checksum instead of zlib's.
        guard healthbus_inflate_begin(stream, coding == .gzip ? 31 : 15) == Z_OK else {
            throw .busy
        }
    }

    deinit {
        // Does nothing if inflating never began.
        inflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    /// - Parameters:
    ///   - chunk: the next bytes as sent.
    ///   - deliver: receives the inflated bytes, in pieces of at most 32 KiB that are valid during the call.
    /// - Throws: 400 for anything that isn't a valid stream, 413 for one that grows too much, and whatever `deliver`
    ///   throws.
    func take(
        _ chunk: UnsafeRawBufferPointer, _ deliver: (UnsafeRawBufferPointer) throws(HTTPRefusal) -> Void
    ) throws(HTTPRefusal) {
        guard let first = chunk.first else { return }
        if taken == 0, coding == .deflate, first & 0x0F != 8 || first >> 4 > 7 {
            // A zlib header can't begin like this, so it is bare deflate.
            inflateReset2(stream, -15)
        }
        taken += chunk.count
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: chunk.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(chunk.count)
        while true {
            if isAtEnd {
                if stream.pointee.avail_in == 0 { return }
                guard coding == .gzip else { throw Self.broken("bytes follow its end") }
                inflateReset(stream)
                isAtEnd = false
            }
            stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(output.count)
            let code = inflate(stream, Z_NO_FLUSH)
            let count = output.count - Int(stream.pointee.avail_out)
            if count > 0 {
                made += count
                guard made <= Self.alwaysAllowed || made / ratio <= taken else {
                    throw HTTPRefusal(
                        413, "the body inflates to more than \(ratio) times its compressed size",
                        hint: "send it in several requests, or without Content-Encoding")
                }
                try deliver(UnsafeRawBufferPointer(rebasing: output[..<count]))
            }
            switch code {
            case Z_STREAM_END: isAtEnd = true
            case Z_OK: if stream.pointee.avail_in == 0, stream.pointee.avail_out > 0 { return }
            // These bytes yield no more output.
            case Z_BUF_ERROR: return
            case Z_MEM_ERROR: throw .busy
            default: throw Self.broken("it is damaged, or has another coding")
            }
        }
    }

    /// Ends the body. A body without bytes counts as empty, whatever its coding.
    /// - Throws: 400 when the end of the stream is missing.
    func finish() throws(HTTPRefusal) {
        guard isAtEnd || taken == 0 else { throw Self.broken("its end is missing") }
    }

    private static func broken(_ why: String) -> HTTPRefusal {
        HTTPRefusal(
            400, "the body isn't what its Content-Encoding says: \(why)",
            hint: "compress it again, or send it without Content-Encoding")
    }
}
