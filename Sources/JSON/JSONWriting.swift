/// Writes JSON to a byte buffer, without a String in between.
extension [UInt8] {
    /// Appends text that is already JSON or part of it.
    @inlinable
    package mutating func append(json text: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func append(json integer: Int64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var index = 20
            var rest = integer.magnitude
            repeat {
                index -= 1
                digits[index] = UInt8(0x30 + rest % 10)
                rest /= 10
            } while rest > 0
            if integer < 0 {
                index -= 1
                digits[index] = UInt8(ascii: "-")
            }
            append(contentsOf: UnsafeBufferPointer(rebasing: digits[index..<20]))
        }
    }

    /// Appends the shortest text that reads back as the same double, or null for values without a JSON form.
    package mutating func append(json number: Double) {
        guard number.isFinite else { return append(json: "null") }
        let magnitude = number.magnitude
        if magnitude < 1e15 {
            // A decimal of up to 15 digits that reads back as the same double is the shortest, and dividing two exact
            // doubles rounds just as parsing does. Most measurements have few decimals.
            for decimals in 0...6 {
                let scaled = (magnitude * DecimalText.powers[decimals]).rounded()
                guard scaled < 1e15 else { break }
                if scaled / DecimalText.powers[decimals] == magnitude {
                    if number < 0 { append(UInt8(ascii: "-")) }
                    return append(decimal: UInt64(scaled), decimals: decimals)
                }
            }
        }
        append(contentsOf: number.description.utf8)
    }

    private mutating func append(decimal digits: UInt64, decimals: Int) {
        let unit = UInt64(DecimalText.powers[decimals])
        append(json: Int64(digits / unit))
        guard decimals > 0 else { return }
        append(UInt8(ascii: "."))
        var rest = digits % unit
        var place = unit / 10
        while place > 0 {
            append(UInt8(0x30 + rest / place))
            rest %= place
            place /= 10
        }
    }

    /// Appends UTF-8 bytes as a JSON string, including the quotes.
    package mutating func append(jsonString bytes: UnsafeRawBufferPointer) {
        append(UInt8(ascii: "\""))
        var plain = 0
        for (index, byte) in bytes.enumerated()
        where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            append(contentsOf: bytes[plain..<index])
            plain = index + 1
            append(UInt8(ascii: "\\"))
            switch byte {
            case 0x0A: append(UInt8(ascii: "n"))
            case 0x0D: append(UInt8(ascii: "r"))
            case 0x09: append(UInt8(ascii: "t"))
            case 0..<0x20:
                append(json: "u00")
                append(0x30 + byte >> 4)
                append(byte & 15 < 10 ? 0x30 + byte & 15 : 0x57 + byte & 15)
            default: append(byte)
            }
        }
        append(contentsOf: bytes[plain...])
        append(UInt8(ascii: "\""))
    }

    package mutating func append(jsonString utf8: some Sequence<UInt8>) {
        let whole: Void? = utf8.withContiguousStorageIfAvailable { append(jsonString: UnsafeRawBufferPointer($0)) }
        if whole == nil { Array(utf8).withUnsafeBytes { append(jsonString: $0) } }
    }

    package mutating func append(jsonString text: String) { append(jsonString: text.utf8) }
}

/// JSON's form of a number, as text for both people and programs.
package enum JSONNumber {
    /// The shortest text that reads back as the same number; whole numbers without ".0"; null for values without a JSON
    /// form.
    package static func text(_ number: Double) -> String {
        guard number.isFinite else { return "null" }
        if number == number.rounded(), abs(number) < 1e15 { return String(Int64(number)) }
        return number.description
    }
}

/// JSON's form of a string.
package enum JSONString {
    package static func quoted(_ text: String) -> String {
        var out: [UInt8] = []
        out.reserveCapacity(text.utf8.count + 2)
        out.append(jsonString: text)
        return String(decoding: out, as: UTF8.self)
    }
}
