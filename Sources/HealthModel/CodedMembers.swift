/// A member that is always said, as null where there is nothing to say: its being absent would mean that nobody knows.
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

/// What has an empty form.
package protocol EmptyCollectionInitializable { init() }

extension Array: EmptyCollectionInitializable {}
extension Dictionary: EmptyCollectionInitializable {}
extension Set: EmptyCollectionInitializable {}

extension IfAny: Sendable where Wrapped: Sendable {}
extension IfAny: Equatable where Wrapped: Equatable {}

extension IfAny: Codable {
    package init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Wrapped.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

// The compiler's own coding of a type calls these where a member has one of the wrappers.
extension KeyedDecodingContainer {
    package func decode<Wrapped>(_ type: OrNull<Wrapped>.Type, forKey key: Key) throws -> OrNull<Wrapped> {
        try decodeIfPresent(type, forKey: key) ?? OrNull(wrappedValue: nil)
    }

    package func decode<Wrapped>(_ type: IfAny<Wrapped>.Type, forKey key: Key) throws -> IfAny<Wrapped> {
        try decodeIfPresent(type, forKey: key) ?? IfAny(wrappedValue: Wrapped())
    }
}

extension KeyedEncodingContainer {
    package mutating func encode<Wrapped>(_ value: IfAny<Wrapped>, forKey key: Key) throws {
        if !value.wrappedValue.isEmpty { try encode(value.wrappedValue, forKey: key) }
    }
}
