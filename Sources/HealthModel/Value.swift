/// A structured value, used for figures, events, configurations and messages on the bus. It has a CBOR and a JSON form.
public enum Value: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case bytes([UInt8])
    case array([Value])
    case object([String: Value])
    /// A sequence of numbers of one kind: a typed array in CBOR, an array in JSON.
    case column(Column)

    /// A column of many numbers of one kind.
    public enum Column: Sendable, Hashable {
        case int64([Int64])
        case int32([Int32])
        case uint8([UInt8])
        case float64([Double])
    }
}

// There is no nil literal, because `isThere ? value : nil` would then give null where an optional without a value is
// meant.
extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: Value...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, Value)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }

    /// The number, or null for nil and for anything that isn't finite (JSON has no NaN).
    public init(_ number: Double?) { self = number.flatMap { $0.isFinite ? .number($0) : nil } ?? .null }
    /// The text, or null.
    public init(_ text: String?) { self = text.map { .string($0) } ?? .null }
    /// The integer, or null.
    public init(_ integer: Int?) { self = integer.map { .integer(Int64($0)) } ?? .null }
}

extension Value {
    /// A member of an object; null if there is no such member, and for anything that isn't an object.
    public subscript(_ key: String) -> Value {
        if case .object(let members) = self { return members[key] ?? .null }
        return .null
    }

    /// Members in the order used by every written form: by the bytes of their keys. String's own order treats
    /// canonically equivalent strings as equal, so the order of such keys could differ from run to run.
    public static func inOrder(_ members: [String: Value]) -> [(key: String, value: Value)] {
        members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// Whether it is null.
    public var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// The number; an integer counts as a number too.
    public var double: Double? {
        switch self {
        case .number(let number): number
        case .integer(let integer): Double(integer)
        default: nil
        }
    }

    /// The integer; a number without a fraction counts as an integer too.
    public var int: Int64? {
        switch self {
        case .integer(let integer): integer
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The text; nil for anything else.
    public var string: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    /// The boolean; nil for anything else.
    public var bool: Bool? {
        if case .bool(let bool) = self { return bool }
        return nil
    }

    /// The bytes; nil for anything else.
    public var bytes: [UInt8]? {
        if case .bytes(let bytes) = self { return bytes }
        return nil
    }

    /// The elements of an array or of a column; nil for anything else.
    public var array: [Value]? {
        switch self {
        case .array(let elements): elements
        case .column(.int64(let numbers)): numbers.map { .integer($0) }
        case .column(.int32(let numbers)): numbers.map { .integer(Int64($0)) }
        case .column(.uint8(let numbers)): numbers.map { .integer(Int64($0)) }
        case .column(.float64(let numbers)): numbers.map { Value($0) }
        default: nil
        }
    }

    /// The numbers in a column of 64-bit integers; nil for anything else.
    public var int64s: [Int64]? {
        if case .column(.int64(let numbers)) = self { return numbers }
        return nil
    }

    /// Like `int64s`, for 32-bit integers.
    public var int32s: [Int32]? {
        if case .column(.int32(let numbers)) = self { return numbers }
        return nil
    }

    /// Like `int64s`, for bytes.
    public var uint8s: [UInt8]? {
        if case .column(.uint8(let numbers)) = self { return numbers }
        return nil
    }

    /// Like `int64s`, for doubles.
    public var float64s: [Double]? {
        if case .column(.float64(let numbers)) = self { return numbers }
        return nil
    }

    /// The members of an object; nil for anything else.
    public var object: [String: Value]? {
        if case .object(let members) = self { return members }
        return nil
    }
}
