extension Value {
    /// A tree of a type's members, each under its own name.
    ///
    /// Messages, answers and stored state are declared once, as `Codable` types; this function and `read` turn them
    /// into trees and back, and so into CBOR or JSON. A `Value` among the members stays as it is, and `[UInt8]` becomes
    /// bytes.
    package init(_ thing: some Encodable) {
        let place = EncodedPlace()
        do { try place.take(thing) } catch {
            // Containers accept everything, so only a type with hand-written encoding can throw here, and that would be
            // a bug in the type.
            preconditionFailure("\(type(of: thing)) can't be encoded: \(error)")
        }
        self = place.value
    }
}

/// A position in the tree that is being built.
private final class EncodedPlace: Encoder, SingleValueEncodingContainer {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var leaf = Value.null
    private var members: [String: Member]?
    private var elements: [Member]?

    /// Most members are leaves and need no encoder of their own.
    enum Member {
        case leaf(Value)
        case place(EncodedPlace)

        var value: Value {
            switch self {
            case .leaf(let value): value
            case .place(let place): place.value
            }
        }
    }

    var value: Value {
        if let members { return .object(members.mapValues(\.value)) }
        if let elements { return .array(elements.map(\.value)) }
        return leaf
    }

    var count: Int { elements?.count ?? 0 }

    func take(_ thing: some Encodable) throws {
        // Types are compared first: casting each member would cost more than everything else.
        if type(of: thing) == Value.self, let value = thing as? Value {
            leaf = value
        } else if type(of: thing) == [UInt8].self, let bytes = thing as? [UInt8] {
            // The static type decides, because an empty array of any type can be cast to an array of bytes.
            leaf = .bytes(bytes)
        } else if type(of: thing) == [String: SequenceNumber].self, let heads = thing as? [String: SequenceNumber] {
            // The largest object that is sent often: the positions by type.
            leaf = .object(heads.mapValues { .integer($0.value) })
        } else {
            try thing.encode(to: self)
        }
    }

    func member(_ name: String) -> EncodedPlace {
        let place = EncodedPlace()
        members?[name] = .place(place)
        return place
    }

    func set(_ name: String, _ value: Value) { members?[name] = .leaf(value) }

    func append() -> EncodedPlace {
        let place = EncodedPlace()
        elements?.append(.place(place))
        return place
    }

    func beginMembers() { members = members ?? [:] }
    func beginElements() { elements = elements ?? [] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        beginMembers()
        return KeyedEncodingContainer(EncodedMembers(place: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        beginElements()
        return EncodedElements(place: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { leaf = .null }
    func encode(_ value: Bool) { leaf = .bool(value) }
    func encode(_ value: String) { leaf = .string(value) }
    func encode(_ value: Double) { leaf = .number(value) }
    func encode(_ value: Float) { leaf = .number(Double(value)) }
    func encode(_ value: some FixedWidthInteger & Encodable) {
        leaf = Int64(exactly: value).map { .integer($0) } ?? .number(Double(value))
    }
    func encode(_ value: some Encodable) throws { try take(value) }
}

private struct EncodedMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: EncodedPlace
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) { place.set(key.stringValue, .null) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try place.member(key.stringValue).take(value) }
    func encode(_ value: Bool, forKey key: Key) { place.set(key.stringValue, .bool(value)) }
    func encode(_ value: String, forKey key: Key) { place.set(key.stringValue, .string(value)) }
    func encode(_ value: Double, forKey key: Key) { place.set(key.stringValue, .number(value)) }
    func encode(_ value: Int, forKey key: Key) { place.set(key.stringValue, .integer(Int64(value))) }
    func encode(_ value: Int64, forKey key: Key) { place.set(key.stringValue, .integer(value)) }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        place.member(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        place.member(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { place.member("super") }
    func superEncoder(forKey key: Key) -> any Encoder { place.member(key.stringValue) }
}

private struct EncodedElements: UnkeyedEncodingContainer {
    let place: EncodedPlace
    let codingPath: [any CodingKey] = []
    var count: Int { place.count }

    func encodeNil() { place.append().encodeNil() }
    func encode(_ value: some Encodable) throws { try place.append().take(value) }

    func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        place.append().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { place.append().unkeyedContainer() }
    func superEncoder() -> any Encoder { place.append() }
}
