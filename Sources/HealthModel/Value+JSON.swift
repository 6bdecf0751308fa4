import Foundation

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

    /// Reads JSON; with `comments`, JSON5 as in configuration files.
    public init(json: some Sequence<UInt8>, comments: Bool = false) throws {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = comments
        self = try decoder.decode(Value.self, from: Data(json))
    }

    /// JSON text with sorted keys, so that equal values are equal bytes. Doubles have the shortest form that reads back the same.
    public func json(pretty: Bool = false) -> String {
        var writer = JSONText(pretty: pretty)
        writer.write(self)
        return writer.text
    }
}

/// Foundation's encoder throws on what can't fail here and is slow; a value tree needs nothing of it.
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

/// JSON's form of a number.
public enum JSONNumber {
    /// Shortest text that reads back the same; whole numbers without ".0"; null for what JSON has no form for.
    public static func text(_ number: Double) -> String {
        guard number.isFinite else { return "null" }
        if number == number.rounded(), abs(number) < 1e15 { return String(Int64(number)) }
        return number.description
    }
}

/// JSON's form of a string.
public enum JSONString {
    public static func quoted(_ text: String) -> String {
        var out: [UInt8] = []
        out.reserveCapacity(text.utf8.count + 2)
        append(text.utf8, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Appends the quoted form of UTF-8 bytes: quotes, backslashes and control characters escaped, everything else as it is.
    public static func append(_ utf8: some Sequence<UInt8>, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""): out.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "\"")])
            case UInt8(ascii: "\\"): out.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "\\")])
            case 0x0A: out.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
            case 0x0D: out.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "r")])
            case 0x09: out.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "t")])
            case 0x00..<0x20:
                let hex = "0123456789abcdef".utf8.map { $0 }
                out.append(contentsOf: [
                    UInt8(ascii: "\\"), UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0"), hex[Int(byte >> 4)],
                    hex[Int(byte & 15)],
                ])
            default: out.append(byte)
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}
