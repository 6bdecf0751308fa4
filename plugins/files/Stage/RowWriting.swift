import HealthModel
import JSON

/// Fields of CSV, as in RFC 4180 but with a bare newline after each row, and of JSON lines.
extension [UInt8] {
    /// Appends a field: quoted if necessary, or if the text is present but empty.
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

    /// Appends a number, always with a decimal point: programs that guess a column's type from its first rows would
    /// otherwise assume whole numbers, and round the rest. Appends nothing for values that aren't finite.
    package mutating func append(real number: Double) {
        guard number.isFinite else { return }
        let start = count
        append(json: number)
        if !self[start...].contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") }) {
            append(UInt8(ascii: "."))
            append(UInt8(ascii: "0"))
        }
    }

    /// Appends a document as JSON, members ordered by name; numbers as above.
    mutating func append(document value: Value) {
        switch value {
        case .number(let number) where number.isFinite: append(real: number)
        case .object(let members):
            append(UInt8(ascii: "{"))
            for (index, member) in Value.inOrder(members).enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(jsonString: member.key)
                append(UInt8(ascii: ":"))
                append(document: member.value)
            }
            append(UInt8(ascii: "}"))
        case .array(let elements):
            append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(document: element)
            }
            append(UInt8(ascii: "]"))
        default: append(contentsOf: value.json().utf8)
        }
    }
}
