import CZlib
import Testing

/// Bodies that are compressed as clients do it.
enum Compressed {
    /// The zlib format: a header of two bytes, the deflated data, and a checksum of four bytes.
    static func zlib(_ bytes: [UInt8]) throws -> [UInt8] {
        var count = compressBound(UInt(bytes.count))
        var out = [UInt8](repeating: 0, count: Int(count))
        try #require(compress2(&out, &count, bytes, UInt(bytes.count), 9) == Z_OK)
        return Array(out.prefix(Int(count)))
    }

    static func bare(_ bytes: [UInt8]) throws -> [UInt8] { try zlib(bytes).dropFirst(2).dropLast(4) }

    static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        func little(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        let checksum = UInt32(truncatingIfNeeded: crc32(0, bytes, UInt32(bytes.count)))
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + (try bare(bytes)) + little(checksum)
            + little(UInt32(truncatingIfNeeded: bytes.count))
    }

    /// Bytes that can hardly be compressed.
    static func noise(_ count: Int) -> [UInt8] {
        var state: UInt32 = 1
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }
}
