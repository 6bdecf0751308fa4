import CXXHash

/// The identity of a sample: a time-ordered UUIDv8 of its content key and ordinal.
///
/// The key consists of user, type, source name, start and end (both rounded down to the second), but **not** the value,
/// which is printed differently when an export is written in another unit. Rows with the same key are distinguished by
/// their ordinals. The first 48 bits are the start in milliseconds, so ids sort by time and index pages fill in order;
/// the rest is XXH3-128 of key and ordinal.
public struct SampleID: Hashable, Comparable, Sendable {
    /// The id's first 64 bits; its 16 bytes are ordered most significant first.
    public var high: UInt64
    /// The id's last 64 bits.
    public var low: UInt64

    /// Makes an id from its 128 bits.
    public init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    public static func < (a: SampleID, b: SampleID) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

/// The part of a key that is the same for all records of a user, type and source; it is hashed once for many records.
package struct SampleKeyPrefix: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    package init(user: String, type: String, sourceName: String) {
        var bytes: [UInt8] = []
        for part in [user, type, sourceName] {
            // Lengths are hashed too, so that different keys never give the same bytes.
            withUnsafeBytes(of: UInt32(part.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: part.utf8)
        }
        (high, low) = bytes.withUnsafeBytes(Self.hash)
    }

    static func hash(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        healthbus_hash128(bytes.baseAddress, bytes.count, &high, &low)
        return (high, low)
    }
}

extension SampleID {
    /// - Parameters:
    ///   - startSecond: the start in seconds since 1970, rounded down.
    ///   - endSecond: the end, in the same form.
    ///   - ordinal: 0 for the first row with this key.
    package init(_ prefix: SampleKeyPrefix, startSecond: Int64, endSecond: Int64, ordinal: Int) {
        let key = (
            prefix.high.littleEndian, prefix.low.littleEndian, startSecond.littleEndian, endSecond.littleEndian,
            Int64(ordinal).littleEndian
        )
        let (high, low) = withUnsafeBytes(of: key, SampleKeyPrefix.hash)
        self.init(
            high: Self.milliseconds(ofSecond: startSecond) << 16 | 0x8000 | high & 0x0FFF,
            low: 0x8000_0000_0000_0000 | low & 0x3FFF_FFFF_FFFF_FFFF)
    }

    /// The first 48 bits of the id of a sample that starts in that second since 1970.
    package static func milliseconds(ofSecond second: Int64) -> UInt64 {
        // The time field can't be negative, so ids of times before 1970 sort first, and their hash keeps them unique.
        UInt64(Swift.max(0, second)) &* 1000 & 0xFFFF_FFFF_FFFF
    }
}

extension SampleID: CustomStringConvertible, LosslessStringConvertible {
    /// Lower-case UUID: `01977f3a-5c00-8abc-9def-0123456789ab`.
    public var description: String {
        var text: [UInt8] = []
        text.append(uuid: self)
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads any UUID text, with or without hyphens, in upper or lower case; nil for anything else.
    public init?(_ text: String) {
        var digits = 0
        var high: UInt64 = 0
        var low: UInt64 = 0
        for byte in text.utf8 where byte != UInt8(ascii: "-") {
            guard digits < 32, let nibble = Self.nibble(byte) else { return nil }
            if digits < 16 { high = high << 4 | nibble } else { low = low << 4 | nibble }
            digits += 1
        }
        guard digits == 32 else { return nil }
        self.init(high: high, low: low)
    }

    /// Reads the 36 bytes of a UUID in its usual form, in upper or lower case; nil for anything else.
    package init?(uuid text: UnsafeRawBufferPointer) {
        guard text.count == 36 else { return nil }
        var words: (high: UInt64, low: UInt64) = (0, 0)
        for index in 0..<36 {
            let byte = text[index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                if byte != UInt8(ascii: "-") { return nil }
                continue
            }
            guard let nibble = Self.nibble(byte) else { return nil }
            if index < 18 { words.high = words.high << 4 | nibble } else { words.low = words.low << 4 | nibble }
        }
        self.init(high: words.high, low: words.low)
    }

    /// The value of a hexadecimal digit in upper or lower case; nil for any other byte.
    @inline(__always)
    private static func nibble(_ byte: UInt8) -> UInt64? {
        if byte &- 0x30 < 10 { return UInt64(byte &- 0x30) }
        return (byte | 0x20) &- 0x61 < 6 ? UInt64((byte | 0x20) &- 0x57) : nil
    }
}

extension [UInt8] {
    /// Appends the 36 characters of an id, as in `SampleID.description`.
    package mutating func append(uuid id: SampleID) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { text in
            var place = 0
            func put(_ word: UInt64, _ shift: Int) {
                let nibble = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 15
                text[place] = nibble < 10 ? 0x30 + nibble : 0x57 + nibble
                place += 1
            }
            func hyphen() {
                text[place] = UInt8(ascii: "-")
                place += 1
            }
            for digit in 0..<16 {
                if digit == 8 || digit == 12 { hyphen() }
                put(id.high, 60 - 4 * digit)
            }
            hyphen()
            for digit in 0..<16 {
                if digit == 4 { hyphen() }
                put(id.low, 60 - 4 * digit)
            }
            append(contentsOf: UnsafeBufferPointer(text))
        }
    }
}
