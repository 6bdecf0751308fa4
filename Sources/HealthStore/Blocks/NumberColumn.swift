/// The numbers of one column as bytes: a single number if all are equal; otherwise variable-length integers for either
/// the differences or the numbers themselves, whichever take fewer bytes. If all numbers are whole seconds given in
/// microseconds, they are stored as seconds.
enum NumberColumn {
    private enum Form {
        static let constant: UInt8 = 0
        static let plain: UInt8 = 1
        static let differences: UInt8 = 2
        /// A flag that is combined with one of the other forms; it means that the numbers were divided by `scale`.
        static let scaled: UInt8 = 4
    }

    private static let scale: Int64 = 1_000_000

    static func encode(_ values: [Int64], to out: inout [UInt8]) {
        let isScaled = values.allSatisfy { $0 % scale == 0 } && values.contains { $0 != 0 }
        let divisor = isScaled ? scale : 1
        guard let first = values.first, values.contains(where: { $0 != first }) else {
            out.append(Form.constant | (isScaled ? Form.scaled : 0))
            append((values.first ?? 0) / divisor, to: &out)
            return
        }
        var (plain, differences, previous) = (0, 0, Int64(0))
        for value in values {
            let number = value / divisor
            plain += length(number)
            differences += length(number &- previous)
            previous = number
        }
        let form = differences < plain ? Form.differences : Form.plain
        out.append(form | (isScaled ? Form.scaled : 0))
        previous = 0
        for value in values {
            let number = value / divisor
            append(form == Form.differences ? number &- previous : number, to: &out)
            previous = number
        }
    }

    static func decode(_ count: Int, from reader: inout ByteReader) throws(BlockDamage) -> [Int64] {
        let form = try reader.byte()
        let scale = form & Form.scaled == 0 ? 1 : Self.scale
        switch form & ~Form.scaled {
        case Form.constant: return [Int64](repeating: try reader.number() &* scale, count: count)
        case Form.plain, Form.differences:
            let keeps: Int64 = form & ~Form.scaled == Form.differences ? -1 : 0
            var values = [Int64](repeating: 0, count: count)
            var previous: Int64 = 0
            for index in 0..<count {
                previous = (previous & keeps) &+ (try reader.number())
                values[index] = previous &* scale
            }
            return values
        default: throw BlockDamage()
        }
    }

    /// Zigzag encoding, in which small numbers of either sign become short.
    private static func folded(_ number: Int64) -> UInt64 { UInt64(bitPattern: (number << 1) ^ (number >> 63)) }

    private static func length(_ number: Int64) -> Int {
        // Seven bits per byte; the number 0 takes one byte.
        (70 - (folded(number) | 1).leadingZeroBitCount) / 7
    }

    static func append(_ number: Int64, to out: inout [UInt8]) {
        var rest = folded(number)
        while rest >= 0x80 {
            out.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        out.append(UInt8(truncatingIfNeeded: rest))
    }
}

/// The content of a block isn't what its writer wrote.
struct BlockDamage: Error {}

/// Reads a block's content from the beginning.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func byte() throws(BlockDamage) -> UInt8 {
        guard position < bytes.count else { throw BlockDamage() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number() throws(BlockDamage) -> Int64 {
        var folded: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count, shift < 64 {
            let byte = bytes[position]
            position += 1
            folded |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1) }
            shift += 7
        }
        throw BlockDamage()
    }

    /// Reads a number of items. It is at most `limit` or, without a limit, at most the number of bytes left, since each
    /// item takes at least one byte.
    mutating func count(atMost limit: Int? = nil) throws(BlockDamage) -> Int {
        let number = try self.number()
        guard number >= 0, number <= limit ?? (bytes.count - position) else { throw BlockDamage() }
        return Int(number)
    }

    mutating func take(_ count: Int) throws(BlockDamage) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= bytes.count - position else { throw BlockDamage() }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count)])
    }
}
