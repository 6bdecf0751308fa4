/// Which of 4,096 neighbouring sequences are in a set, encoded as runs, or as a bitmap if that is shorter.
struct BirthChunk: Equatable {
    static let words = 64
    private static let bitmapForm: UInt8 = 0
    private static let runsForm: UInt8 = 1

    var bits: [UInt64]

    init(bits: [UInt64] = [UInt64](repeating: 0, count: Self.words)) { self.bits = bits }

    /// Only this sequence.
    init(_ born: Int64) {
        self.init()
        let place = Self.place(born)
        bits[place >> 6] |= 1 << UInt64(place & 63)
    }

    /// The chunk to which a sequence belongs, and its place there.
    static func number(_ born: Int64) -> Int64 { born >> 12 }
    private static func place(_ born: Int64) -> Int { Int(born & 4095) }

    var isEmpty: Bool { bits.allSatisfy { $0 == 0 } }

    /// Whether a sequence of the chunk is in the set.
    func contains(_ born: Int64) -> Bool {
        let place = Self.place(born)
        return bits[place >> 6] & 1 << UInt64(place & 63) != 0
    }

    mutating func formUnion(_ other: BirthChunk) { for word in bits.indices { bits[word] |= other.bits[word] } }

    mutating func subtract(_ other: BirthChunk) { for word in bits.indices { bits[word] &= ~other.bits[word] } }

    /// The first and last place in the chunk of each run.
    private var runs: [(Int, Int)] {
        var runs: [(Int, Int)] = []
        var place = 0
        while place < Self.words * 64 {
            let rest = bits[place >> 6] >> UInt64(place & 63)
            guard rest & 1 != 0 else {
                place = rest == 0 ? (place >> 6 + 1) << 6 : place + rest.trailingZeroBitCount
                continue
            }
            let first = place
            while place < Self.words * 64 {
                let ones = (~(bits[place >> 6] >> UInt64(place & 63))).trailingZeroBitCount
                let room = 64 - place & 63
                place += min(ones, room)
                if ones < room { break }
            }
            runs.append((first, place - 1))
        }
        return runs
    }

    var encoded: [UInt8] {
        let runs = runs
        guard runs.count * 4 < Self.words * 8 else {
            return [Self.bitmapForm]
                + bits.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) } }
        }
        return [Self.runsForm]
            + runs.flatMap { first, last in
                [first, last].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
            }
    }

    /// Nil if the bytes don't represent such a set.
    init?(_ bytes: UnsafeRawBufferPointer) {
        self.init()
        guard let form = bytes.first else { return nil }
        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        switch form {
        case Self.bitmapForm:
            guard rest.count == Self.words * 8 else { return nil }
            for (index, byte) in rest.enumerated() { bits[index >> 3] |= UInt64(byte) << (8 * UInt64(index & 7)) }
        case Self.runsForm:
            guard rest.count % 4 == 0 else { return nil }
            for at in stride(from: 0, to: rest.count, by: 4) {
                let first = Int(rest[at]) | Int(rest[at + 1]) << 8
                let last = Int(rest[at + 2]) | Int(rest[at + 3]) << 8
                guard first <= last, last < Self.words * 64 else { return nil }
                for place in first...last { bits[place >> 6] |= 1 << UInt64(place & 63) }
            }
        default: return nil
        }
    }
}
