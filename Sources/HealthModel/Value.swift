/// A structured value: what figures, events, configurations and message bodies are made of. Has a CBOR and a JSON form.
public enum Value: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case bytes([UInt8])
    case array([Value])
    case object([String: Value])
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: Value...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, Value)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
    public init(nilLiteral: ()) { self = .null }

    /// The number, or null for nil and for what isn't finite (JSON has no NaN).
    public init(_ number: Double?) { self = number.flatMap { $0.isFinite ? .number($0) : nil } ?? .null }
    public init(_ text: String?) { self = text.map { .string($0) } ?? .null }
    public init(_ integer: Int?) { self = integer.map { .integer(Int64($0)) } ?? .null }
}

extension Value {
    public subscript(_ key: String) -> Value {
        if case .object(let members) = self { return members[key] ?? .null }
        return .null
    }

    public var isNull: Bool { self == .null }

    /// The number, also of an integer.
    public var double: Double? {
        switch self {
        case .number(let number): number
        case .integer(let integer): Double(integer)
        default: nil
        }
    }

    /// The integer, also of a number without fraction.
    public var int: Int64? {
        switch self {
        case .integer(let integer): integer
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }

    public var string: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    public var bool: Bool? {
        if case .bool(let bool) = self { return bool }
        return nil
    }

    public var bytes: [UInt8]? {
        if case .bytes(let bytes) = self { return bytes }
        return nil
    }

    public var array: [Value]? {
        if case .array(let elements) = self { return elements }
        return nil
    }

    public var object: [String: Value]? {
        if case .object(let members) = self { return members }
        return nil
    }
}
