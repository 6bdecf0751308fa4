import Foundation
import HealthModel
import JSON

/// JSON text: whatever the scanner accepts is also valid JSON to other parsers, and means the same.
enum JSONFuzzing {
    static func run(_ bytes: [UInt8]) throws {
        guard JSONScanner.isUTF8(bytes) else { return }
        let isDocument = try bytes.withUnsafeBytes { try scan($0) }
        let value = Value(strictJSON: bytes)
        if let value {
            let text = Array(value.json().utf8)
            guard let again = try? Value(json: text) else {
                throw BrokenRule(description: "what is written isn't JSON")
            }
            try hold(again.json() == value.json(), "a value read back is written differently")
            if bytes.count < 2048 { try compare(value, bytes) }
        }
        if isDocument { try objects(bytes) }
    }

    /// Whether the input is a single document; every span must lie within the text.
    private static func scan(_ text: UnsafeRawBufferPointer) throws -> Bool {
        let span: JSONSpan
        switch document(text) {
        case .success(let found): span = found
        case .failure(let error):
            try hold((0...text.count).contains(error.offset), "an error is outside the text")
            return false
        }
        if let begin = text.baseAddress, let at = span.bytes.baseAddress {
            try hold(at >= begin && at + span.bytes.count <= begin + text.count, "a span is outside the text")
        }
        _ = (span.text, span.integer, span.double)
        if span.kind == .array {
            var counting = JSONScanner(text)
            _ = try counting.countedArray()
        }
        return true
    }

    private static func document(_ text: UnsafeRawBufferPointer) -> Result<JSONSpan, JSONScanError> {
        do throws(JSONScanError) {
            var scanner = JSONScanner(text)
            let span = try scanner.value()
            try scanner.end()
            return .success(span)
        } catch { return .failure(error) }
    }

    /// Foundation reads the same content. Foundation refuses half of a surrogate pair, which is allowed by RFC 8259 and
    /// which we read as U+FFFD.
    private static func compare(_ value: Value, _ bytes: [UInt8]) throws {
        if String(decoding: bytes, as: UTF8.self).lowercased().contains("\\ud") { return }
        guard let other = try? JSONDecoder().decode(Value.self, from: Data(bytes)) else {
            throw BrokenRule(description: "Foundation takes it for something other than JSON")
        }
        try hold(other.json() == value.json(), "Foundation reads something else")
    }

    /// Objects in canonical form stay that way, and the order in which two are joined doesn't matter.
    private static func objects(_ bytes: [UInt8]) throws {
        let canonical = bytes.withUnsafeBytes { JSONMembers.canonical($0) } ?? bytes
        try hold(canonical.withUnsafeBytes { JSONMembers.canonical($0) } == nil, "the canonical form has another one")
        let members = Value(strictJSON: bytes)?.object ?? [:]
        guard members.count > 1 else { return }
        let (left, right) = (
            members.filter { $0.key.utf8.count % 2 == 0 }, members.filter { $0.key.utf8.count % 3 != 0 }
        )
        let texts = [left, right].map { Array(Value.object($0.mapValues { .string($0.json()) }).json().utf8) }
        let joined = join(texts[0], texts[1])
        try hold(joined == join(texts[1], texts[0]), "the order of two objects matters")
        try hold(joined == join(joined, texts[0]), "joining again gives a different result")
        try hold((try? Value(json: joined)) != nil, "what is joined isn't JSON")
    }

    private static func join(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
        a.withUnsafeBytes { a in b.withUnsafeBytes { JSONMembers.joined(a, $0) } }
    }
}
