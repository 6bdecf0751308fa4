extension Value {
    /// The same as a type; nil where a member is missing or is of another type. Members that the type doesn't name are passed over.
    package func read<Thing: Decodable>(_ type: Thing.Type = Thing.self) -> Thing? {
        do { return try decode(type) } catch { return nil }
    }

    /// The same, for whoever wants to say what is wrong.
    /// - Throws: `DecodingError`, with the path of the member.
    package func decode<Thing: Decodable>(_ type: Thing.Type = Thing.self) throws -> Thing {
        try DecodedPlace(value: self, codingPath: []).decode(type)
    }
}

/// One place of the tree that is read.
private struct DecodedPlace: Decoder, SingleValueDecodingContainer {
    let value: Value
    /// Of what it is a member of.
    private let parent: [any CodingKey]
    /// Its own name there.
    private let key: (any CodingKey)?

    init(value: Value, codingPath parent: [any CodingKey], key: (any CodingKey)? = nil) {
        (self.value, self.parent, self.key) = (value, parent, key)
    }

    /// Made when it is asked for: most places are leaves, and right.
    var codingPath: [any CodingKey] { key.map { parent + [$0] } ?? parent }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw mismatch([String: Value].self) }
        return KeyedDecodingContainer(DecodedMembers(members: members, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = value.array else { throw mismatch([Value].self) }
        return DecodedElements(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "is of another type"))
    }

    private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        guard let number = value.int.flatMap({ Number(exactly: $0) }) else { throw mismatch(type) }
        return number
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
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

    func decode<Thing: Decodable>(_ type: Thing.Type) throws -> Thing {
        // Types are compared first: to cast each member would cost more than all the rest.
        if type == Value.self, let value = value as? Thing { return value }
        if type == [String: Value].self {
            guard let members = value.object as? Thing else { throw mismatch(type) }
            return members
        }
        if type == [UInt8].self {
            guard let bytes = (value.bytes ?? value.uint8s) as? Thing else { throw mismatch(type) }
            return bytes
        }
        return try Thing(from: self)
    }
}

private struct DecodedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: Value]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    private func place(_ key: Key) throws -> DecodedPlace {
        guard let value = members[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "is missing"))
        }
        return DecodedPlace(value: value, codingPath: codingPath, key: key)
    }

    func decodeNil(forKey key: Key) throws -> Bool { try place(key).decodeNil() }
    func decode<Thing: Decodable>(_ type: Thing.Type, forKey key: Key) throws -> Thing { try place(key).decode(type) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try place(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try place(key).decode(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try place(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try place(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try place(key).decode(type) }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        try place(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try place(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { DecodedPlace(value: .object(members), codingPath: codingPath) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try place(key) }
}

private struct DecodedElements: UnkeyedDecodingContainer {
    let elements: [Value]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(elements: [Value], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private func place() throws -> DecodedPlace {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Value.self, .init(codingPath: codingPath, debugDescription: "there is no more"))
        }
        return DecodedPlace(value: elements[currentIndex], codingPath: codingPath)
    }

    mutating func decodeNil() throws -> Bool {
        guard try place().decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Thing: Decodable>(_ type: Thing.Type) throws -> Thing {
        let thing = try place().decode(type)
        currentIndex += 1
        return thing
    }

    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        let container = try place().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try place().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder { try place() }
}
