import CXXHash
import Glibc
import HealthModel

/// Cuts an export into pieces of a few hundred records, at places determined by its content; a later export from the
/// same phone contains nearly all of these pieces too, even if they have moved. The same bytes are always cut at the
/// same places.
///
/// A piece begins at a line that opens a `Record`, indented as in Apple's exports. Other exports have no such lines and
/// are cut about every 1 MiB, into pieces without a hash.
struct PieceCutter {
    /// A piece, complete or not.
    struct Piece {
        var bytes: Range<Int>
        var lines: Int
        /// Nil unless the piece begins and ends at a `Record`.
        var hash: PieceHash?
    }

    private static let opening = Array("\n <Record ".utf8)
    private static let address = Array("HKDevice: 0x".utf8)
    private static let least = 16 << 10
    private static let most = 1 << 20
    /// On average, one line in 256 ends a piece.
    private static let rarity: UInt64 = 0xFF
    /// The number of bytes that decide whether to cut: they are the last ones of the tag that opens the previous
    /// record. They contain its dates and value, which distinguish records.
    private static let window = 48

    private var buffer: [UInt8] = []
    /// Where the next piece begins, and how far the search for its end has progressed.
    private var begin = 0
    private var seen = 0
    private var lines = 0
    private var beginsAtRecord = false
    /// Whether the line that continues at `seen` opens a record, and where the last record's tag ended.
    private var opensRecord = false
    private var tagEnd = 0

    /// The bytes that contain the pieces.
    var bytes: [UInt8] { buffer }

    mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        buffer.removeSubrange(..<begin)
        seen -= begin
        tagEnd -= begin
        begin = 0
        buffer.append(contentsOf: bytes)
    }

    /// The next piece of the bytes added so far; nil when its end hasn't arrived yet.
    mutating func next() -> Piece? {
        let held = buffer
        guard let cut = held.withUnsafeBytes({ findCut($0) }) else {
            guard seen - begin >= Self.most else { return nil }
            return take(upTo: seen, isAtRecord: false)
        }
        return take(upTo: cut, isAtRecord: true)
    }

    /// Whatever is left at the end of the input.
    mutating func rest() -> Piece? {
        seen = buffer.count
        return begin < buffer.count ? take(upTo: buffer.count, isAtRecord: false) : nil
    }

    private mutating func take(upTo end: Int, isAtRecord: Bool) -> Piece {
        defer {
            begin = end
            lines = 0
            beginsAtRecord = isAtRecord
        }
        let hash = beginsAtRecord && isAtRecord ? Self.hash(buffer, begin..<end) : nil
        return Piece(bytes: begin..<end, lines: lines, hash: hash)
    }

    /// The end of the first piece, which is after a line break followed by a record. The search continues where it
    /// stopped.
    private mutating func findCut(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        while seen - begin < Self.most, let found = memchr(base + seen, 0x0A, bytes.count - seen) {
            let newline = UnsafeRawPointer(found) - base
            // The bytes after the line break may not be there yet.
            guard newline + Self.opening.count <= bytes.count else { return nil }
            seen = newline + 1
            lines += 1
            if opensRecord { tagEnd = newline }
            opensRecord = bytes[newline + 3] == UInt8(ascii: "R") && bytes[newline...].starts(with: Self.opening)
            guard opensRecord, newline + 1 - begin >= Self.least, tagEnd - Self.window >= begin else { continue }
            var (high, low): (UInt64, UInt64) = (0, 0)
            healthbus_hash128(base + tagEnd - Self.window, Self.window, &high, &low)
            if low & Self.rarity == 0 { return newline + 1 }
        }
        if memchr(base + seen, 0x0A, bytes.count - seen) == nil { seen = bytes.count }
        return nil
    }

    /// Leaves out the address printed with devices, since it differs in each export.
    private static func hash(_ bytes: [UInt8], _ range: Range<Int>) -> PieceHash {
        let hash = ContentHash()
        bytes.withUnsafeBytes { bytes in
            func add(_ range: Range<Int>) { hash.add(UnsafeRawBufferPointer(rebasing: bytes[range])) }
            guard let base = bytes.baseAddress else { return }
            var at = range.lowerBound
            while at < range.upperBound {
                let found = healthbus_find(base + at, range.upperBound - at, address, address.count)
                if found < 0 { break }
                let end = at + Int(found) + address.count
                add(at..<end)
                at = end
                while at < range.upperBound, isHexDigit(bytes[at]) { at += 1 }
            }
            add(at..<range.upperBound)
        }
        return PieceHash(hash)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 6
    }
}
