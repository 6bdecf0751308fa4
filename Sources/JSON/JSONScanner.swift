import Glibc

/// The position of a value in JSON text; the value isn't decoded yet. Valid only as long as the text that it points
/// into.
package struct JSONSpan {
    package enum Kind: Sendable { case string, escapedString, number, bool, null, object, array }

    package let kind: Kind
    /// A string's content without its quotes; for anything else the text itself.
    package let bytes: UnsafeRawBufferPointer

    package var isNull: Bool { kind == .null }
    package var isString: Bool { kind == .string || kind == .escapedString }
}

/// What is wrong with JSON text, and where.
package struct JSONScanError: Error, Equatable, CustomStringConvertible {
    /// In bytes from the beginning of the text.
    package let offset: Int
    package let reason: String

    package var description: String { "malformed JSON at byte \(offset): \(reason)" }
}

/// Walks JSON text (RFC 8259) in place: no tree, no allocation, bounded nesting.
///
/// A caller steps into the objects and arrays that it knows, and takes everything else as a span; every byte is checked
/// against the grammar on the way. The text must be valid UTF-8 (see `JSONScanner.isUTF8`).
package struct JSONScanner {
    private let text: UnsafeRawBufferPointer
    /// The current position; after `skipSpace`, where the next token begins.
    private(set) var position = 0
    /// Whether the next member or element of the innermost container must be preceded by a comma.
    private var needsComma = false

    /// The maximum nesting depth of a value taken as a span.
    package static let depthLimit = 64

    package init(_ text: UnsafeRawBufferPointer) { self.text = text }

    package static func isUTF8(_ text: [UInt8]) -> Bool { text.withUnsafeBytes { isUTF8($0) } }

    package static func isUTF8(_ text: UnsafeRawBufferPointer) -> Bool {
        (try? UTF8Span(validating: text.assumingMemoryBound(to: UInt8.self).span)) != nil
    }

    // MARK: Containers

    package mutating func beginObject() throws(JSONScanError) {
        try expect(UInt8(ascii: "{"), "an object was expected")
        needsComma = false
    }

    package mutating func beginArray() throws(JSONScanError) {
        try expect(UInt8(ascii: "["), "an array was expected")
        needsComma = false
    }

    /// The next member's name, followed by its value; nil after the last one, with the object closed.
    package mutating func nextMember() throws(JSONScanError) -> JSONSpan? {
        guard try hasNext(closing: UInt8(ascii: "}")) else { return nil }
        guard peek() == UInt8(ascii: "\"") else { throw failure("a member's name was expected") }
        let name = try string()
        try expect(UInt8(ascii: ":"), "a colon was expected")
        needsComma = false
        return name
    }

    /// Whether an element follows; false after the last one, with the array closed.
    package mutating func nextElement() throws(JSONScanError) -> Bool {
        try hasNext(closing: UInt8(ascii: "]"))
    }

    private mutating func hasNext(closing: UInt8) throws(JSONScanError) -> Bool {
        skipSpace()
        if peek() == closing {
            position += 1
            needsComma = true
            return false
        }
        if needsComma {
            try expect(UInt8(ascii: ","), "a comma was expected")
            skipSpace()
        }
        return true
    }

    /// Refuses anything other than white space after the document.
    package mutating func end() throws(JSONScanError) {
        skipSpace()
        if position != text.count { throw failure("something follows the document") }
    }

    // MARK: Values

    /// Whether the next value is an object, judging by its first byte.
    package mutating func nextIsObject() -> Bool {
        skipSpace()
        return peek() == UInt8(ascii: "{")
    }

    package mutating func nextIsArray() -> Bool {
        skipSpace()
        return peek() == UInt8(ascii: "[")
    }

    /// The whole next value.
    package mutating func value() throws(JSONScanError) -> JSONSpan {
        let span = try value(depth: 0)
        needsComma = true
        return span
    }

    /// The whole next value, which must be an array, and the number of its elements.
    package mutating func countedArray() throws(JSONScanError) -> (span: JSONSpan, count: Int) {
        skipSpace()
        let start = position
        var count = 0
        try beginArray()
        while try nextElement() {
            _ = try value()
            count += 1
        }
        return (span(.array, start), count)
    }

    private mutating func value(depth: Int) throws(JSONScanError) -> JSONSpan {
        skipSpace()
        let start = position
        switch peek() {
        case UInt8(ascii: "\""): return try string()
        case UInt8(ascii: "{"):
            if depth >= Self.depthLimit { throw failure("it is nested too deeply") }
            try beginObject()
            while try nextMember() != nil {
                _ = try value(depth: depth + 1)
                needsComma = true
            }
            return span(.object, start)
        case UInt8(ascii: "["):
            if depth >= Self.depthLimit { throw failure("it is nested too deeply") }
            try beginArray()
            while try nextElement() {
                _ = try value(depth: depth + 1)
                needsComma = true
            }
            return span(.array, start)
        case UInt8(ascii: "t"): return try word("true", .bool)
        case UInt8(ascii: "f"): return try word("false", .bool)
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func string() throws(JSONScanError) -> JSONSpan {
        position += 1
        let start = position
        var kind = JSONSpan.Kind.string
        while position < text.count {
            if position + 8 <= text.count, isPlain(text.loadUnaligned(fromByteOffset: position, as: UInt64.self)) {
                position += 8
                continue
            }
            let byte = text[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return JSONSpan(kind: kind, bytes: UnsafeRawBufferPointer(rebasing: text[start..<position - 1]))
            }
            if byte == UInt8(ascii: "\\") {
                kind = .escapedString
                try escape()
            } else if byte < 0x20 {
                throw failure("there is a control character in a string")
            } else {
                position += 1
            }
        }
        throw failure("a string has no end")
    }

    private mutating func escape() throws(JSONScanError) {
        position += 1
        switch peek() {
        case UInt8(ascii: "u"):
            for offset in 1...4 where position + offset >= text.count || !isHexDigit(text[position + offset]) {
                throw failure("a \\u escape needs four hexadecimal digits")
            }
            position += 5
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        default: throw failure("there is an unknown escape")
        }
    }

    private mutating func number() throws(JSONScanError) -> JSONSpan {
        let start = position
        if peek() == UInt8(ascii: "-") { position += 1 }
        if peek() == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if peek() == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
            position += 1
            if let sign = peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        return span(.number, start)
    }

    private mutating func digits() throws(JSONScanError) {
        let start = position
        while position < text.count, text[position] &- 0x30 < 10 { position += 1 }
        if position == start { throw failure("a value was expected") }
    }

    private mutating func word(_ word: StaticString, _ kind: JSONSpan.Kind) throws(JSONScanError) -> JSONSpan {
        let start = position
        guard text.count - position >= word.utf8CodeUnitCount, let here = text.baseAddress,
            memcmp(here + position, word.utf8Start, word.utf8CodeUnitCount) == 0
        else { throw failure("a value was expected") }
        position += word.utf8CodeUnitCount
        return span(kind, start)
    }

    // MARK: Bytes

    private func peek() -> UInt8? { position < text.count ? text[position] : nil }

    mutating func skipSpace() {
        while position < text.count {
            let byte = text[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    private mutating func expect(_ byte: UInt8, _ reason: String) throws(JSONScanError) {
        skipSpace()
        guard peek() == byte else { throw failure(reason) }
        position += 1
    }

    /// Whether none of eight bytes is a quote, a backslash or a control character (Alan Mycroft's test for a zero byte;
    /// it may mistake a plain byte for a special one, never the reverse).
    private func isPlain(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let control = (word &- (ones &* 0x20)) & ~word
        let special = ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | control
        return special & (ones &* 0x80) == 0
    }

    private func isHexDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6 }

    private func span(_ kind: JSONSpan.Kind, _ start: Int) -> JSONSpan {
        JSONSpan(kind: kind, bytes: UnsafeRawBufferPointer(rebasing: text[start..<position]))
    }

    private func failure(_ reason: String) -> JSONScanError { JSONScanError(offset: position, reason: reason) }
}
