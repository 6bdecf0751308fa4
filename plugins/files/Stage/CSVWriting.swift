import HealthModel

/// CSV as RFC 4180 has it, but with a bare newline after each row, as most programs write it today.
extension [UInt8] {
    /// A field: in quotes where it must be, and where it is empty but there.
    mutating func append(csv field: some Collection<UInt8>) {
        let needsQuotes =
            field.isEmpty
            || field.contains {
                $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\n")
                    || $0 == UInt8(ascii: "\r")
            }
        guard needsQuotes else { return append(contentsOf: field) }
        append(UInt8(ascii: "\""))
        for byte in field {
            if byte == UInt8(ascii: "\"") { append(byte) }
            append(byte)
        }
        append(UInt8(ascii: "\""))
    }

    mutating func append(csv text: String) { append(csv: text.utf8) }

    /// The 36 characters of an id, as `SampleID.description` has them.
    mutating func append(id: SampleID) {
        for (index, word) in [id.high, id.low].enumerated() {
            for digit in 0..<16 {
                let place = index * 16 + digit
                if place == 8 || place == 12 || place == 16 || place == 20 { append(UInt8(ascii: "-")) }
                let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * digit)) & 15
                append(nibble < 10 ? 0x30 + nibble : 0x57 + nibble)
            }
        }
    }
}
