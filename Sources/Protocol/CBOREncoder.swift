import CLibCBOR
import HealthModel

/// Writes CBOR (RFC 8949) with definite lengths and sorted keys, so that equal values give equal bytes. Columns become
/// typed arrays (RFC 8746), little-endian: one head and one copy, whatever their length.
package struct CBOREncoder {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package static func encode(_ value: Value) -> [UInt8] {
        var encoder = CBOREncoder()
        // Reserving the room in advance means that a page of columns is copied once, not again each time the buffer
        // doubles.
        let bulk = bulk(of: value)
        if bulk > 0 { encoder.bytes.reserveCapacity(bulk + 4096) }
        encoder.write(value)
        return encoder.bytes
    }

    /// The number of bytes in a value's columns and byte strings, except those inside arrays.
    private static func bulk(of value: Value) -> Int {
        switch value {
        case .bytes(let bytes): bytes.count
        case .column(.uint8(let numbers)): numbers.count
        case .column(.int32(let numbers)): numbers.count * 4
        case .column(.int64(let numbers)): numbers.count * 8
        case .column(.float64(let numbers)): numbers.count * 8
        case .object(let members): members.values.reduce(0) { $0 + bulk(of: $1) }
        default: 0
        }
    }

    package mutating func write(_ value: Value) {
        switch value {
        case .null: head { cbor_encode_null($0, $1) }
        case .bool(let bool): head { cbor_encode_bool(bool, $0, $1) }
        case .integer(let integer):
            if integer >= 0 {
                head { cbor_encode_uint(UInt64(integer), $0, $1) }
            } else {
                // CBOR stores a negative integer i as −1 − i: the bits of an Int64, inverted.
                head { cbor_encode_negint(UInt64(bitPattern: ~integer), $0, $1) }
            }
        case .number(let number): head { cbor_encode_double(number, $0, $1) }
        case .string(let text):
            head { cbor_encode_string_start(text.utf8.count, $0, $1) }
            bytes.append(contentsOf: text.utf8)
        case .bytes(let data):
            head { cbor_encode_bytestring_start(data.count, $0, $1) }
            bytes.append(contentsOf: data)
        case .array(let elements):
            head { cbor_encode_array_start(elements.count, $0, $1) }
            for element in elements { write(element) }
        case .object(let members):
            head { cbor_encode_map_start(members.count, $0, $1) }
            for (key, member) in Value.inOrder(members) {
                write(.string(key))
                write(member)
            }
        case .column(let column): write(column)
        }
    }

    private mutating func write(_ column: Value.Column) {
        switch column {
        case .uint8(let numbers): typedArray(TypedArrayTag.uint8, numbers)
        case .int32(let numbers): typedArray(TypedArrayTag.int32LittleEndian, numbers)
        case .int64(let numbers): typedArray(TypedArrayTag.int64LittleEndian, numbers)
        case .float64(let numbers): typedArray(TypedArrayTag.float64LittleEndian, numbers)
        }
    }

    /// All our hosts are little-endian, as is the array: the bytes are written as they are in memory.
    private mutating func typedArray<Number>(_ tag: UInt64, _ numbers: [Number]) {
        head { cbor_encode_tag(tag, $0, $1) }
        head { cbor_encode_bytestring_start(numbers.count * MemoryLayout<Number>.size, $0, $1) }
        numbers.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    private mutating func head(_ write: (UnsafeMutablePointer<UInt8>?, Int) -> Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { buffer in
            let count = write(buffer.baseAddress, 16)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: UnsafeBufferPointer(buffer)[0..<count]))
        }
    }
}

/// Tags from RFC 8746, section 2.1.
enum TypedArrayTag {
    static let uint8: UInt64 = 64
    static let int32LittleEndian: UInt64 = 78
    static let int64LittleEndian: UInt64 = 79
    static let float64LittleEndian: UInt64 = 86
}
