import Foundation
import JSON

extension Value: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let elements = try? container.decode([Value].self) {
            self = .array(elements)
        } else {
            self = .object(try container.decode([String: Value].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .integer(let integer): try container.encode(integer)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .bytes(let bytes): try container.encode(Data(bytes).base64EncodedString())
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        case .column: try container.encode(array ?? [])
        }
    }

    /// JSON text with sorted keys, so that equal values give equal bytes. Doubles are written in the shortest form that
    /// reads back as the same number.
    public func json(pretty: Bool = false) -> String {
        var writer = JSONText(pretty: pretty)
        writer.write(self)
        return writer.text
    }
}

/// Foundation's encoder is slow, and throws even where nothing can fail; a `Value` tree needs none of its features.
private struct JSONText {
    let pretty: Bool
    var text = ""
    private var depth = 0

    init(pretty: Bool) { self.pretty = pretty }

    mutating func write(_ value: Value) {
        switch value {
        case .null: text += "null"
        case .bool(let bool): text += bool ? "true" : "false"
        case .integer(let integer): text += String(integer)
        case .number(let number): text += JSONNumber.text(number)
        case .string(let string): text += JSONString.quoted(string)
        case .bytes(let bytes): text += JSONString.quoted(Data(bytes).base64EncodedString())
        case .array(let elements):
            list("[", "]", elements) { writer, element in writer.write(element) }
        case .column: write(.array(value.array ?? []))
        case .object(let members):
            list("{", "}", Value.inOrder(members)) { writer, member in
                writer.text += JSONString.quoted(member.key) + (writer.pretty ? ": " : ":")
                writer.write(member.value)
            }
        }
    }

    private mutating func list<Element>(
        _ open: String, _ close: String, _ elements: [Element], _ body: (inout JSONText, Element) -> Void
    ) {
        text += open
        depth += 1
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            newline()
            body(&self, element)
        }
        depth -= 1
        if !elements.isEmpty { newline() }
        text += close
    }

    private mutating func newline() {
        guard pretty else { return }
        text += "\n" + String(repeating: "  ", count: depth)
    }
}
