/// A member that is always written, as null if there is no value; leaving it out would mean that it is unknown.
@propertyWrapper
package struct OrNull<Wrapped: Codable> {
    package var wrappedValue: Wrapped?

    package init(wrappedValue: Wrapped?) { self.wrappedValue = wrappedValue }
}

extension OrNull: Sendable where Wrapped: Sendable {}
extension OrNull: Equatable where Wrapped: Equatable {}

extension OrNull: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Wrapped.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

/// A list or map that is left out while it is empty.
@propertyWrapper
package struct IfAny<Wrapped: Codable & Collection & EmptyCollectionInitializable> {
    package var wrappedValue: Wrapped

    package init(wrappedValue: Wrapped) { self.wrappedValue = wrappedValue }
}

/// A collection that can be created empty.
package protocol EmptyCollectionInitializable { init() }

extension Array: EmptyCollectionInitializable {}
extension Dictionary: EmptyCollectionInitializable {}
extension Set: EmptyCollectionInitializable {}

extension IfAny: Sendable where Wrapped: Sendable {}
extension IfAny: Equatable where Wrapped: Equatable {}

// Required of a member, but never called: the containers code it, as below.
extension IfAny: Codable {}

// The compiler-generated coding calls these for members that have one of the wrappers.
extension KeyedDecodingContainer {
    package func decode<Wrapped>(_ type: OrNull<Wrapped>.Type, forKey key: Key) throws -> OrNull<Wrapped> {
        OrNull(wrappedValue: try decodeIfPresent(Wrapped.self, forKey: key))
    }

    package func decode<Wrapped>(_ type: IfAny<Wrapped>.Type, forKey key: Key) throws -> IfAny<Wrapped> {
        IfAny(wrappedValue: try decodeIfPresent(Wrapped.self, forKey: key) ?? Wrapped())
    }
}

extension KeyedEncodingContainer {
    package mutating func encode<Wrapped>(_ value: IfAny<Wrapped>, forKey key: Key) throws {
        if !value.wrappedValue.isEmpty { try encode(value.wrappedValue, forKey: key) }
    }
}

/// A member that counts as absent when it can't be read; the other members are still read.
@propertyWrapper
package struct IfReadable<Wrapped: Codable> {
    package var wrappedValue: Wrapped?

    package init(wrappedValue: Wrapped?) { self.wrappedValue = wrappedValue }
}

extension IfReadable: Sendable where Wrapped: Sendable {}
extension IfReadable: Equatable where Wrapped: Equatable {}

// Required of a member, but never called: the containers code it, as below.
extension IfReadable: Codable {}

extension KeyedDecodingContainer {
    package func decode<Wrapped>(_ type: IfReadable<Wrapped>.Type, forKey key: Key) throws -> IfReadable<Wrapped> {
        IfReadable(wrappedValue: try decodeIfPresent(Value.self, forKey: key)?.read())
    }
}

extension KeyedEncodingContainer {
    package mutating func encode<Wrapped>(_ value: IfReadable<Wrapped>, forKey key: Key) throws {
        try encodeIfPresent(value.wrappedValue, forKey: key)
    }
}

/// A sequence of numbers that is sent as a typed array.
@propertyWrapper
package struct Packed<Element: PackedNumber>: Sendable, Equatable {
    package var wrappedValue: [Element]

    package init(wrappedValue: [Element]) { self.wrappedValue = wrappedValue }
}

extension Packed: Codable {
    package init(from decoder: any Decoder) throws {
        guard let numbers = Element.unpacked(try decoder.singleValueContainer().decode(Value.self)) else {
            throw DecodingError.typeMismatch(
                [Element].self, .init(codingPath: decoder.codingPath, debugDescription: "isn't a column of this kind"))
        }
        wrappedValue = numbers
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Value.column(Element.packed(wrappedValue)))
    }
}

/// The types of number that a column may hold.
package protocol PackedNumber: Sendable, Equatable {
    static func packed(_ numbers: [Self]) -> Value.Column
    /// nil for anything but a column of this kind.
    static func unpacked(_ value: Value) -> [Self]?
}

extension Int32: PackedNumber {
    package static func packed(_ numbers: [Int32]) -> Value.Column { .int32(numbers) }
    package static func unpacked(_ value: Value) -> [Int32]? { value.int32s }
}

extension Int64: PackedNumber {
    package static func packed(_ numbers: [Int64]) -> Value.Column { .int64(numbers) }
    package static func unpacked(_ value: Value) -> [Int64]? { value.int64s }
}

extension UInt8: PackedNumber {
    package static func packed(_ numbers: [UInt8]) -> Value.Column { .uint8(numbers) }
    package static func unpacked(_ value: Value) -> [UInt8]? { value.uint8s }
}
