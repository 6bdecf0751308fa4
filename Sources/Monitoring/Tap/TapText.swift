import HealthModel

/// Message bodies for people: moments and days are shown as dates, and long lists only in part. Pure.
enum TapText {
    /// Messages hold moments as microseconds since 1970; no count, size or sequence number comes near the values for
    /// 2001 to 2096.
    private static let moments: Range<Int64> = 1_000_000_000_000_000..<4_000_000_000_000_000
    /// Longer lists show only this many elements.
    private static let longest = 8
    private static let shown = 3
    private static let most = 24
    /// Members with HealthKit's UUIDs, 16 bytes each.
    private static let ids: Set<String> = ["uuid", "deleted"]

    /// - Parameter name: the name of the member that holds it.
    static func readable(_ value: Value, name: String = "") -> Value {
        switch value {
        case .integer(let number): moment(number) ?? day(number, name) ?? value
        case .array(let elements):
            // The figures that a hint names are few enough.
            name == "names" && elements.count <= most
                ? value : list(elements.count) { readable(elements[$0], name: name) }
        case .object(let members):
            .object(Dictionary(uniqueKeysWithValues: members.map { ($0, readable($1, name: $0)) }))
        case .column(.int64(let numbers)):
            list(numbers.count) { moment(numbers[$0]) ?? .integer(numbers[$0]) }
        case .column(.int32(let numbers)): list(numbers.count) { .integer(Int64(numbers[$0])) }
        case .column(.uint8(let numbers)): list(numbers.count) { .integer(Int64(numbers[$0])) }
        case .column(.float64(let numbers)): list(numbers.count) { Value(numbers[$0]) }
        case .bytes(let bytes) where ids.contains(name) && bytes.count.isMultiple(of: 16):
            list(bytes.count / 16) { id(bytes[($0 * 16)..<($0 * 16 + 16)]) }
        case .bytes(let bytes):
            bytes.count > longest ? .string("\(bytes.count) bytes") : value
        case .null, .bool, .number, .string: value
        }
    }

    private static func list(_ count: Int, _ element: (Int) -> Value) -> Value {
        guard count > longest else { return .array((0..<count).map(element)) }
        return .array((0..<shown).map(element) + [.string("and \(count - shown) more")])
    }

    /// - Returns: null for 16 zeros: a sample whose UUID isn't known.
    private static func id(_ bytes: ArraySlice<UInt8>) -> Value {
        let halves = [bytes.prefix(8), bytes.suffix(8)].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        return halves == [0, 0] ? .null : .string(SampleID(high: halves[0], low: halves[1]).description)
    }

    private static func moment(_ number: Int64) -> Value? {
        moments.contains(number) ? .string(InstantText.iso8601(Instant(microseconds: number))) : nil
    }

    /// Days since 1970, as in rows and queries; a number named `days` is a count of days instead.
    private static func day(_ number: Int64, _ name: String) -> Value? {
        guard name == "day", (-100_000...100_000).contains(number) else { return nil }
        return .string("\(LocalDay(number: Int(number)))")
    }
}
