import Foundation
import JSON

extension Value {
    /// Reads JSON; with `comments`, JSON5 as in configuration files.
    ///
    /// Nearly all of it is strict JSON, which our own scanner reads twenty times as fast as Foundation: reading the
    /// manifests used to take a third of a program's startup time. Foundation handles whatever the scanner refuses:
    /// JSON5, a byte-order mark, and the wording of errors.
    /// - Throws: `DecodingError`.
    public init(json: some Sequence<UInt8>, comments: Bool = false) throws {
        let text = Array(json)
        if let value = Value(strictJSON: text) {
            self = value
            return
        }
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = comments
        self = try decoder.decode(Value.self, from: Data(text))
    }

    /// nil for anything other than a single document of RFC 8259 in UTF-8, and for numbers from 2⁵³ on that are written
    /// with a fraction or an exponent.
    package init?(strictJSON text: [UInt8]) {
        guard JSONScanner.isUTF8(text) else { return nil }
        let value = text.withUnsafeBytes { bytes -> Value? in
            var reader = JSONTreeReader(scanner: JSONScanner(bytes))
            return try? reader.document()
        }
        guard let value else { return nil }
        self = value
    }
}

/// Builds a document's tree while the scanner walks through it.
private struct JSONTreeReader {
    var scanner: JSONScanner

    /// The nesting depth up to which Foundation reads documents, so that both parsers refuse the same ones.
    private static let depthLimit = 512

    private enum Refusal: Error { case tooDeep, inexact }

    mutating func document() throws -> Value {
        let value = try value(depth: 0)
        try scanner.end()
        return value
    }

    private mutating func value(depth: Int) throws -> Value {
        if scanner.nextIsObject() {
            if depth >= Self.depthLimit { throw Refusal.tooDeep }
            try scanner.beginObject()
            var members: [String: Value] = [:]
            while let name = try scanner.nextMember() {
                let value = try self.value(depth: depth + 1)
                // If several members have the same name, the first one counts, as in Foundation.
                if let name = name.text, members[name] == nil { members[name] = value }
            }
            return .object(members)
        }
        if scanner.nextIsArray() {
            if depth >= Self.depthLimit { throw Refusal.tooDeep }
            try scanner.beginArray()
            var elements: [Value] = []
            while try scanner.nextElement() { elements.append(try value(depth: depth + 1)) }
            return .array(elements)
        }
        return try leaf(scanner.value())
    }

    private func leaf(_ span: JSONSpan) throws -> Value {
        switch span.kind {
        case .null: return .null
        case .bool: return .bool(span.bytes.first == UInt8(ascii: "t"))
        case .number:
            guard let number = span.double else { throw Refusal.inexact }
            // Beyond 2⁵³, a double doesn't show whether a number such as 9007199254740993.0 was written as a whole
            // number.
            let isPlain = span.bytes.allSatisfy { $0 == UInt8(ascii: "-") || $0 &- 0x30 < 10 }
            if !isPlain, number.magnitude >= 0x1p53 { throw Refusal.inexact }
            return span.integer.map { .integer($0) } ?? .number(number)
        default: return .string(span.text ?? "")
        }
    }
}
