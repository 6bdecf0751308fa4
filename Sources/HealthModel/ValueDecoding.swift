extension Value {
    /// The value decoded as a type; nil if a member is missing or has another type. Members that the type doesn't name
    /// are ignored.
    package func read<Thing: Decodable>(_ type: Thing.Type = Thing.self) -> Thing? {
        do { return try decode(type) } catch { return nil }
    }

    /// As above, for callers that want to say what is wrong.
    /// - Throws: `DecodingError`, with the path of the member.
    package func decode<Thing: Decodable>(_ type: Thing.Type = Thing.self) throws -> Thing {
        try DecodedPlace(self).decode(type)
    }
}

/// A position in the tree that is being read. This is a class, since several of the standard library's containers hold
/// it, and each would copy a struct.
private final class DecodedPlace: Decoder, SingleValueDecodingContainer {
    let value: Value
    /// The position whose value contains this one as a member or an element.
    private let parent: DecodedPlace?
    /// The name of this position in `parent`.
    private let key: (any CodingKey)?

    init(_ value: Value, in parent: DecodedPlace? = nil, key: (any CodingKey)? = nil) {
        (self.value, self.parent, self.key) = (value, parent, key)
    }

    /// Made only on request: nearly all input is valid.
    var codingPath: [any CodingKey] { (parent?.codingPath ?? []) + (key.map { [$0] } ?? []) }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw mismatch([String: Value].self) }
        return KeyedDecodingContainer(DecodedMembers(members: members, place: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = value.array else { throw mismatch([Value].self) }
        return DecodedElements(elements: elements, place: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "has another type"))
    }

    func decodeNil() -> Bool { value.isNull }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let bool = value.bool else { throw mismatch(type) }
        return bool
    }

    func decode(_ type: String.Type) throws -> String {
        guard let text = value.string else { throw mismatch(type) }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard let number = value.double else { throw mismatch(type) }
        return number
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
        guard let number = value.int.flatMap({ Number(exactly: $0) }) else { throw mismatch(type) }
        return number
    }

    func decode<Thing: Decodable>(_ type: Thing.Type) throws -> Thing {
        if let thing = value.fitting(type) { return thing }
        // An array of numbers isn't bytes.
        if type == [UInt8].self { throw mismatch(type) }
        return try Thing(from: self)
    }
}

extension Value {
    /// Reads types that need no position of their own: types that cost nothing to read, and small ones that occur by
    /// the dozen in messages. Returns nil for any other type and for values that don't fit; a decoder with a position
    /// then reports what is wrong.
    fileprivate func fitting<Thing>(_ type: Thing.Type) -> Thing? {
        // Types are compared first: casting each member would cost more than everything else.
        if type == Value.self { return self as? Thing }
        if type == SequenceNumber.self { return int.flatMap { SequenceNumber($0) as? Thing } }
        if type == Instant.self { return int.flatMap { Instant(microseconds: $0) as? Thing } }
        if type == [String: SequenceNumber].self {
            return members { $0.int.map { SequenceNumber($0) } }.flatMap { $0 as? Thing }
        }
        if type == [String: Int64].self { return members(\.int).flatMap { $0 as? Thing } }
        if type == [String: Instant].self {
            return members { $0.int.map { Instant(microseconds: $0) } }.flatMap { $0 as? Thing }
        }
        if type == [String: String].self { return members(\.string).flatMap { $0 as? Thing } }
        if type == [String: Value].self { return object.flatMap { $0 as? Thing } }
        if type == [UInt8].self { return (bytes ?? uint8s).flatMap { $0 as? Thing } }
        return nil
    }

    /// nil unless all members can be read.
    private func members<Member>(_ read: (Value) -> Member?) -> [String: Member]? {
        guard case .object(let members) = self else { return nil }
        let fitting = members.compactMapValues(read)
        return fitting.count == members.count ? fitting : nil
    }
}

private struct DecodedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: Value]
    /// The position that contains them as members.
    let place: DecodedPlace

    var codingPath: [any CodingKey] { place.codingPath }
    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    private func value(_ key: Key) throws -> Value {
        guard let value = members[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "is missing"))
        }
        return value
    }

    private func place(_ key: Key) throws -> DecodedPlace { DecodedPlace(try value(key), in: place, key: key) }

    /// Reads from the value itself, without creating a decoder for its position; that is needed only after a failure,
    /// to report what is wrong.
    private func leaf<Leaf>(_ key: Key, _ read: (Value) -> Leaf?) throws -> Leaf {
        let value = try value(key)
        guard let leaf = read(value) else { throw DecodedPlace(value, in: place, key: key).mismatch(Leaf.self) }
        return leaf
    }

    private func leafIfPresent<Leaf>(_ key: Key, _ read: (Value) -> Leaf?) throws -> Leaf? {
        guard let value = members[key.stringValue], !value.isNull else { return nil }
        guard let leaf = read(value) else { throw DecodedPlace(value, in: place, key: key).mismatch(Leaf.self) }
        return leaf
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isNull }

    func decode<Thing: Decodable>(_ type: Thing.Type, forKey key: Key) throws -> Thing {
        let value = try value(key)
        return try value.fitting(type) ?? DecodedPlace(value, in: place, key: key).decode(type)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try leaf(key, \.bool) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try leaf(key, \.string) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try leaf(key, \.double) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try leaf(key) { $0.int.flatMap(Int.init(exactly:)) }
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try leaf(key, \.int) }

    func decodeIfPresent<Thing: Decodable>(_ type: Thing.Type, forKey key: Key) throws -> Thing? {
        guard let value = members[key.stringValue], !value.isNull else { return nil }
        return try value.fitting(type) ?? DecodedPlace(value, in: place, key: key).decode(type)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try leafIfPresent(key, \.bool) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try leafIfPresent(key, \.string) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try leafIfPresent(key, \.double) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try leafIfPresent(key, \.int) }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try leafIfPresent(key) { $0.int.flatMap(Int.init(exactly:)) }
    }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try place(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try place(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { place }
    func superDecoder(forKey key: Key) throws -> any Decoder { try place(key) }
}

private struct DecodedElements: UnkeyedDecodingContainer {
    let elements: [Value]
    /// The position that contains them as elements.
    private let place: DecodedPlace
    private(set) var currentIndex = 0

    init(elements: [Value], place: DecodedPlace) { (self.elements, self.place) = (elements, place) }

    var codingPath: [any CodingKey] { place.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private func value() throws -> Value {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Value.self, .init(codingPath: codingPath, debugDescription: "there is no more"))
        }
        return elements[currentIndex]
    }

    private func next() throws -> DecodedPlace { DecodedPlace(try value(), in: place) }

    mutating func decodeNil() throws -> Bool {
        guard try value().isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Thing: Decodable>(_ type: Thing.Type) throws -> Thing {
        let value = try value()
        let thing = try value.fitting(type) ?? DecodedPlace(value, in: place).decode(type)
        currentIndex += 1
        return thing
    }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        let container = try next().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try next().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder { try next() }
}
