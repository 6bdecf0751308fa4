import CLibCBOR
import HealthModel

/// Reads CBOR within our own limits: nesting is bounded, and it never reads beyond the given bytes. A declared length
/// by itself allocates nothing.
package struct CBORDecoder {
    package static let maximumDepth = 32
    private static let expectedMembers = 32

    private let base: UnsafeRawBufferPointer
    private var position = 0
    private var itemsLeft: Int

    /// Decodes the one value in `bytes`.
    /// - Parameter items: the maximum number of values it may contain, including itself and nested ones, since a value
    ///   encoded in a few bytes takes dozens in memory. A column counts as one value.
    /// - Throws: `CBORError` for anything other than exactly one well-formed value in a form that `Value` can
    ///   represent.
    package static func decode(_ bytes: some Collection<UInt8>, items: Int = .max) throws(CBORError) -> Value {
        let result =
            bytes.withContiguousStorageIfAvailable { decodeContiguous(UnsafeRawBufferPointer($0), items) }
            ?? Array(bytes).withUnsafeBytes { decodeContiguous($0, items) }
        return try result.get()
    }

    private static func decodeContiguous(_ bytes: UnsafeRawBufferPointer, _ items: Int) -> Result<Value, CBORError> {
        var decoder = CBORDecoder(base: bytes, itemsLeft: items)
        do throws(CBORError) {
            let value = try decoder.read(depth: 0)
            guard decoder.position == bytes.count else { throw .trailingBytes(at: decoder.position) }
            return .success(value)
        } catch {
            return .failure(error)
        }
    }

    private mutating func read(depth: Int) throws(CBORError) -> Value {
        guard depth < Self.maximumDepth else { throw .tooDeep(at: position) }
        guard itemsLeft > 0 else { throw .tooMany(at: position) }
        itemsLeft -= 1
        let item = try next()
        switch UInt32(item.kind) {
        case HEALTHBUS_CBOR_UINT.rawValue:
            guard let integer = Int64(exactly: item.integer) else { throw .outOfRange(at: position) }
            return .integer(integer)
        case HEALTHBUS_CBOR_NEGINT.rawValue:
            guard let integer = Int64(exactly: item.integer) else { throw .outOfRange(at: position) }
            return .integer(~integer)
        case HEALTHBUS_CBOR_BYTES.rawValue: return .bytes([UInt8](content(item)))
        case HEALTHBUS_CBOR_TEXT.rawValue:
            guard let text = String(validating: content(item), as: UTF8.self) else { throw .notUTF8(at: position) }
            return .string(text)
        case HEALTHBUS_CBOR_FLOAT.rawValue: return .number(item.number)
        case HEALTHBUS_CBOR_BOOL.rawValue: return .bool(item.integer != 0)
        case HEALTHBUS_CBOR_NULL.rawValue: return .null
        case HEALTHBUS_CBOR_TAG.rawValue: return try typedArray(tag: item.integer, depth: depth)
        case HEALTHBUS_CBOR_ARRAY.rawValue:
            try checkDeclared(item.count)
            var elements: [Value] = []
            for _ in 0..<item.count { elements.append(try read(depth: depth + 1)) }
            return .array(elements)
        case HEALTHBUS_CBOR_MAP.rawValue:
            try checkDeclared(item.count)
            // Reserves no more room than our own messages need, no matter what length is declared.
            var members = [String: Value](minimumCapacity: min(item.count, Self.expectedMembers))
            for _ in 0..<item.count {
                guard case .string(let key) = try read(depth: depth + 1) else { throw .keyIsNotText(at: position) }
                // Readers would disagree on which of two equal keys counts.
                guard members.updateValue(try read(depth: depth + 1), forKey: key) == nil else {
                    throw .duplicateKey(at: position)
                }
            }
            return .object(members)
        default: throw .unsupported(at: position)
        }
    }

    /// Each element takes at least one byte, so a declared length beyond the remaining bytes is refused before anything
    /// is reserved for it.
    private func checkDeclared(_ count: Int) throws(CBORError) {
        guard count >= 0, count <= base.count - position else { throw .truncated(at: position) }
    }

    private mutating func next() throws(CBORError) -> healthbus_cbor_item {
        var item = healthbus_cbor_item()
        var used = 0
        let rest = UnsafeRawBufferPointer(rebasing: base[position...])
        guard !rest.isEmpty else { throw .truncated(at: position) }
        switch healthbus_cbor_next(rest.bindMemory(to: UInt8.self).baseAddress, rest.count, &item, &used) {
        case 0:
            position += used
            return item
        case 1: throw .truncated(at: position)
        default: throw .malformed(at: position)
        }
    }

    private func content(_ item: healthbus_cbor_item) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: item.count == 0 ? nil : item.bytes, count: item.count)
    }

    private mutating func typedArray(tag: UInt64, depth: Int) throws(CBORError) -> Value {
        switch tag {
        case TypedArrayTag.uint8, TypedArrayTag.int32LittleEndian, TypedArrayTag.int64LittleEndian,
            TypedArrayTag.float64LittleEndian:
            break
        // An unknown tag says how to interpret its content; we keep the content without the tag.
        default: return try read(depth: depth + 1)
        }
        let item = try next()
        guard UInt32(item.kind) == HEALTHBUS_CBOR_BYTES.rawValue else { throw .malformed(at: position) }
        let bytes = UnsafeRawBufferPointer(content(item))
        switch tag {
        case TypedArrayTag.uint8: return .column(.uint8([UInt8](bytes)))
        case TypedArrayTag.int32LittleEndian: return .column(.int32(try numbers(bytes)))
        case TypedArrayTag.int64LittleEndian: return .column(.int64(try numbers(bytes)))
        default: return .column(.float64(try numbers(bytes)))
        }
    }

    private func numbers<Number: BitwiseCopyable>(_ bytes: UnsafeRawBufferPointer) throws(CBORError) -> [Number] {
        let size = MemoryLayout<Number>.size
        guard bytes.count % size == 0 else { throw .malformed(at: position) }
        return [Number](unsafeUninitializedCapacity: bytes.count / size) { buffer, count in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: bytes)
            count = bytes.count / size
        }
    }
}

/// Why the bytes can't be decoded, and at which byte.
package enum CBORError: Error, Equatable, CustomStringConvertible {
    case truncated(at: Int)
    case malformed(at: Int)
    case unsupported(at: Int)
    case tooDeep(at: Int)
    case tooMany(at: Int)
    case outOfRange(at: Int)
    case notUTF8(at: Int)
    case keyIsNotText(at: Int)
    case duplicateKey(at: Int)
    case trailingBytes(at: Int)

    package var description: String {
        switch self {
        case .truncated(let at): "CBOR ends early, at byte \(at)"
        case .malformed(let at): "not CBOR, at byte \(at)"
        case .unsupported(let at): "a form of CBOR that this protocol doesn't use, at byte \(at)"
        case .tooDeep(let at): "CBOR nested deeper than \(CBORDecoder.maximumDepth), at byte \(at)"
        case .tooMany(let at): "more values than are allowed at once, at byte \(at)"
        case .outOfRange(let at): "an integer beyond signed 64 bits, at byte \(at)"
        case .notUTF8(let at): "text that isn't UTF-8, at byte \(at)"
        case .keyIsNotText(let at): "a map key that isn't text, at byte \(at)"
        case .duplicateKey(let at): "a map key given twice, before byte \(at)"
        case .trailingBytes(let at): "more bytes after the value, from byte \(at)"
        }
    }
}
