import HealthModel

/// The format of a block's content: a version, then its columns one after the other.
enum BlockContent {
    /// The second version also has the sequences under which rows were first stored; it is used for rows that were
    /// stored again.
    static let versions: ClosedRange<UInt8> = 1...2
    static let noUUID = SampleID(high: 0, low: 0)

    static func encode(_ rows: ContiguousArray<StoredRow>, metadata: BlockTexts, payload: BlockTexts) -> [UInt8] {
        let isStoredAgain = rows.contains { $0.born != $0.sequence }
        var out: [UInt8] = [isStoredAgain ? versions.upperBound : versions.lowerBound]
        out.reserveCapacity(rows.count * 24 + metadata.bytes.count + payload.bytes.count)
        func column(_ number: (StoredRow) -> Int64) { NumberColumn.encode(rows.map(number), to: &out) }
        column { $0.second }
        column { $0.startRemainder }
        column { $0.duration }
        encode(values: rows.map(\.value), to: &out)
        column { Int64($0.origin) }
        column { Int64($0.unit) }
        column { Int64($0.flags) }
        encodeCreated(rows, to: &out)
        encodeIDs(rows, to: &out)
        encodeUUIDs(rows, to: &out)
        metadata.encode(to: &out)
        payload.encode(to: &out)
        if isStoredAgain { column { $0.sequence.value &- $0.born.value } }
        return out
    }

    // MARK: Values: decimals as integers if each can be restored to the bit, otherwise as they are.

    private static let raw: UInt8 = 255
    /// The powers of ten by which values may be multiplied. Dividing by them gives the double nearest to the decimal,
    /// just as parsing does.
    private static let divisors: [Double] = [1, 10, 100, 1000, 10_000, 100_000]
    /// Beyond 2⁵³, not every integer can be a double.
    private static let largest = 9e15

    private static func encode(values: [Double], to out: inout [UInt8]) {
        for (number, divisor) in divisors.enumerated() {
            var integers: [Int64] = []
            integers.reserveCapacity(values.count)
            for value in values {
                let product = (value * divisor).rounded()
                guard abs(product) < largest, (product / divisor).bitPattern == value.bitPattern else { break }
                integers.append(Int64(product))
            }
            guard integers.count == values.count else { continue }
            out.append(UInt8(number))
            return NumberColumn.encode(integers, to: &out)
        }
        out.append(raw)
        for value in values { append(word: value.bitPattern, to: &out) }
    }

    static func values(_ count: Int, from reader: inout ByteReader) throws(BlockDamage) -> [Double] {
        let form = Int(try reader.byte())
        if form == Int(raw) {
            let bytes = try reader.take(count * 8)
            return (0..<count).map { Double(bitPattern: word(bytes, at: $0 * 8)) }
        }
        guard divisors.indices.contains(form) else { throw BlockDamage() }
        let integers = try NumberColumn.decode(count, from: &reader)
        let divisor = divisors[form]
        return form == 0 ? integers.map { Double($0) } : integers.map { Double($0) / divisor }
    }

    // MARK: When a sample was stored: usually a little after its end.

    private static func encodeCreated(_ rows: ContiguousArray<StoredRow>, to out: inout [UInt8]) {
        let isRelative = rows.allSatisfy { $0.created != 0 }
        out.append(isRelative ? 1 : 0)
        NumberColumn.encode(
            rows.map { isRelative ? $0.created &- endSecond($0.second, $0.startRemainder, $0.duration) : $0.created },
            to: &out)
    }

    static func created(
        _ second: [Int64], _ remainder: [Int64], _ duration: [Int64], from reader: inout ByteReader
    ) throws(BlockDamage) -> [Int64] {
        let isRelative = try reader.byte() == 1
        var created = try NumberColumn.decode(second.count, from: &reader)
        guard isRelative else { return created }
        for row in created.indices {
            created[row] = created[row] &+ endSecond(second[row], remainder[row], duration[row])
        }
        return created
    }

    private static func endSecond(_ second: Int64, _ remainder: Int64, _ duration: Int64) -> Int64 {
        second &+ (remainder &+ duration) / Instant.microsecondsPerSecond
    }

    // MARK: Ids: their first 48 bits are the start, the rest is a hash.

    private static func encodeIDs(_ rows: ContiguousArray<StoredRow>, to out: inout [UInt8]) {
        let isShort = rows.allSatisfy { $0.id.high >> 16 == SampleID.milliseconds(ofSecond: $0.second) }
        out.append(isShort ? 1 : 0)
        for row in rows {
            if isShort {
                out.append(UInt8(truncatingIfNeeded: row.id.high >> 8))
                out.append(UInt8(truncatingIfNeeded: row.id.high))
            } else {
                append(word: row.id.high, to: &out)
            }
            append(word: row.id.low, to: &out)
        }
    }

    static func ids(_ second: [Int64], from reader: inout ByteReader) throws(BlockDamage) -> [SampleID] {
        let count = second.count
        guard try reader.byte() == 1 else { return try wholeIDs(count, from: &reader) }
        let bytes = try reader.take(count * 10)
        return second.indices.map { row in
            let at = row * 10
            return SampleID(
                high: SampleID.milliseconds(ofSecond: second[row]) << 16 | UInt64(bytes[at]) << 8
                    | UInt64(bytes[at + 1]),
                low: word(bytes, at: at + 2))
        }
    }

    private static func wholeIDs(_ count: Int, from reader: inout ByteReader) throws(BlockDamage) -> [SampleID] {
        let bytes = try reader.take(count * 16)
        return (0..<count).map { SampleID(high: word(bytes, at: $0 * 16), low: word(bytes, at: $0 * 16 + 8)) }
    }

    private static func encodeUUIDs(_ rows: ContiguousArray<StoredRow>, to out: inout [UInt8]) {
        let hasAny = rows.contains { $0.uuid != nil }
        out.append(hasAny ? 1 : 0)
        guard hasAny else { return }
        for row in rows {
            append(word: (row.uuid ?? noUUID).high, to: &out)
            append(word: (row.uuid ?? noUUID).low, to: &out)
        }
    }

    static func uuids(_ count: Int, from reader: inout ByteReader) throws(BlockDamage) -> [SampleID] {
        try reader.byte() == 1 ? try wholeIDs(count, from: &reader) : []
    }

    private static func append(word: UInt64, to out: inout [UInt8]) {
        withUnsafeBytes(of: word.littleEndian) { out.append(contentsOf: $0) }
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
