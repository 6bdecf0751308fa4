import HealthModel
import JSON

/// A value that is kept or replaced as a whole. The greater one is better: first by its kind, since some members are
/// texts and all others are rather anything else; then a route with more points, or a number with more digits; then the
/// greater number; then the longer text, then the greater by bytes.
struct PayloadText: Comparable {
    let span: JSONSpan
    let rank: Int
    private let weight: Double
    private let number: Double

    static let listRank = 8
    private static let wholeRank = 7
    static let objectRank = 6
    /// Members that are texts in a workout's payload, as keys in JSON.
    private static let texts = keys("activity", "date", "end", "name", "route", "start", "type", "unit", "uuid")
    /// Members that are objects whose members only make sense together.
    static let wholes = keys("routeSummary")
    /// Members of such objects under any name: of a quantity, which has a unit, and of a position.
    static let marks = keys("qty", "latitude")

    /// A value that isn't an object.
    init(_ span: JSONSpan, in key: [UInt8]) {
        self.span = span
        rank = Self.rank(span.kind, isText: Self.texts.contains(key))
        let value = span.double
        number = value ?? 0
        weight = value.map { Double(Self.digits(of: $0)) } ?? (span.kind == .number ? -1 : 0)
    }

    /// An object whose members only make sense together.
    init(whole object: JSONSpan) {
        span = object
        rank = Self.wholeRank
        weight = Self.points(object)
        number = 0
    }

    /// The text, with a string's quotes.
    var whole: UnsafeRawBufferPointer {
        guard span.isString, let first = span.bytes.baseAddress else { return span.bytes }
        return UnsafeRawBufferPointer(start: first - 1, count: span.bytes.count + 2)
    }

    static func == (a: PayloadText, b: PayloadText) -> Bool { !(a < b) && !(b < a) }

    static func < (a: PayloadText, b: PayloadText) -> Bool {
        let (first, second) = ((a.rank, a.weight, a.number), (b.rank, b.weight, b.number))
        return first == second ? JSONMembers.isRicher(b.whole[...], a.whole[...]) : first < second
    }

    private static func rank(_ kind: JSONSpan.Kind, isText: Bool) -> Int {
        switch kind {
        case .string, .escapedString: isText ? listRank + 1 : 3
        case .object: objectRank
        case .array: 5
        case .number: 4
        case .bool: 2
        case .null: 1
        }
    }

    /// How many digits a number has, without zeros at its ends: 0 for 0.
    private static func digits(of number: Double) -> Int {
        let text = number.magnitude.description.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        let digits = text.filter { $0 &- 0x30 < 10 }.drop { $0 == 0x30 }
        return digits.count - digits.reversed().prefix { $0 == 0x30 }.count
    }

    /// How many points a route has.
    private static func points(_ summary: JSONSpan) -> Double {
        do throws(JSONScanError) {
            var scanner = JSONScanner(summary.bytes)
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                let value = try scanner.value()
                if name == "points" { return value.double ?? 0 }
            }
        } catch { return 0 }
        return 0
    }

    private static func keys(_ names: String...) -> Set<[UInt8]> { Set(names.map { Array("\"\($0)\"".utf8) }) }
}
