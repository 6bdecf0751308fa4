import HealthModel

/// Message bodies for people: moments and days are shown as dates, and long lists only in part. Pure.
enum TapText {
    /// Messages hold moments as microseconds since 1970; no count, size or sequence number comes near the values for
    /// 2001 to 2096.
    private static let moments: Range<Int64> = 1_000_000_000_000_000..<4_000_000_000_000_000
    /// Longer lists show only this many elements.
    private static let longest = 8
    private static let shown = 3

    /// - Parameter name: the name of the member that holds it.
    static func readable(_ value: Value, name: String = "") -> Value {
        switch value {
        case .integer(let number): moment(number) ?? day(number, name) ?? value
        case .array(let elements): list(elements.count) { readable(elements[$0], name: name) }
        case .object(let members):
            .object(Dictionary(uniqueKeysWithValues: members.map { ($0, readable($1, name: $0)) }))
        case .column(.int64(let numbers)):
            list(numbers.count) { moment(numbers[$0]) ?? .integer(numbers[$0]) }
        case .column(.int32(let numbers)): list(numbers.count) { .integer(Int64(numbers[$0])) }
        case .column(.uint8(let numbers)): list(numbers.count) { .integer(Int64(numbers[$0])) }
        case .column(.float64(let numbers)): list(numbers.count) { Value(numbers[$0]) }
        case .bytes(let bytes):
            bytes.count > longest ? .string("\(bytes.count) bytes") : value
        case .null, .bool, .number, .string: value
        }
    }

    private static func list(_ count: Int, _ element: (Int) -> Value) -> Value {
        guard count > longest else { return .array((0..<count).map(element)) }
        return .array((0..<shown).map(element) + [.string("and \(count - shown) more")])
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
