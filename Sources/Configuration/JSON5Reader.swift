/// Walks through JSON5 text, records the position of each member, and stops at the first mistake.
struct JSON5Reader {
    private let bytes: [UInt8]
    private var at = 0
    private var line = 1
    /// The positions of the objects and arrays that aren't closed yet.
    private var open: [Int] = []
    private var wrong: (at: Int, reason: String)?

    /// The maximum nesting depth of configurations.
    private static let depthLimit = 64
    private static let hash = "a comment begins with //, not with #"

    init(bytes: [UInt8]) { self.bytes = bytes }

    var mistake: JSONMistake? {
        wrong.map { place, reason in
            let before = bytes[..<min(place, bytes.count)]
            let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            // Bytes that continue a character don't count as columns, nor does a byte order mark.
            let characters = before[start...].count { $0 & 0xC0 != 0x80 }
            return JSONMistake(
                line: before.count { $0 == UInt8(ascii: "\n") } + 1,
                column: characters + 1 - (start == 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) && place > 0 ? 1 : 0),
                reason: reason)
        }
    }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    /// Records the first mistake, and returns false.
    private mutating func fail(_ reason: String, at place: Int? = nil) -> Bool {
        if wrong == nil { wrong = (place ?? at, reason) }
        return false
    }

    /// Records that something is missing or, at the end of the text, that something isn't closed.
    private mutating func failHere(_ reason: String) -> Bool {
        guard next == nil else {
            return fail(next == UInt8(ascii: "#") ? Self.hash : reason)
        }
        guard let start = open.last else { return fail("it is empty") }
        let bracket = String(UnicodeScalar(bytes[start]))
        return fail("this \(bracket) isn't closed", at: start)
    }

    private mutating func step() {
        if bytes[at] == UInt8(ascii: "\n") { line += 1 }
        at += 1
    }

    /// Skips spaces and comments.
    private mutating func skip() {
        while let byte = next {
            if byte == UInt8(ascii: "/"), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "/") {
                while let byte = next, byte != UInt8(ascii: "\n") { step() }
            } else if byte == UInt8(ascii: "/"), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "*") {
                comment()
            } else if byte <= 0x20 || byte == 0xC2 || byte == 0xA0 || byte == 0xEF || byte == 0xBB || byte == 0xBF {
                // Among them are a no-break space and a byte order mark, which JSON5 allows.
                step()
            } else {
                return
            }
        }
    }

    private mutating func comment() {
        let start = at
        at += 2
        while next != nil {
            if bytes[at...].starts(with: [UInt8(ascii: "*"), UInt8(ascii: "/")]) {
                at += 2
                return
            }
            step()
        }
        _ = fail("this comment isn't closed", at: start)
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        step()
        return true
    }

    /// Reads one value, with nothing after it.
    mutating func document(_ places: inout JSONPlaces) {
        guard value("", &places) else { return }
        skip()
        if next != nil { _ = fail("the text goes on after its end; a bracket too many may have closed it") }
    }

    /// Reads one value; returns false when the rest can't be understood.
    private mutating func value(_ path: String, _ places: inout JSONPlaces) -> Bool {
        skip()
        guard let byte = next else { return failHere("") }
        guard open.count < Self.depthLimit else { return fail("it is nested deeper than \(Self.depthLimit)") }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            open.append(at)
            guard byte == UInt8(ascii: "{") ? object(path, &places) : array(path, &places) else { return false }
            open.removeLast()
            return true
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return string() != nil
        default:
            let start = at
            let word = word()
            guard !word.isEmpty else { return failHere("a value is missing here") }
            guard !Self.isValue(word) else { return true }
            if word.hasPrefix("#") { return fail(Self.hash, at: start) }
            let isNumber = word.utf8.first.map { $0 &- 0x30 < 10 } == true
            return fail(
                isNumber
                    ? "this isn't a number" : "this is neither a number nor true, false or null; a text needs quotes",
                at: start)
        }
    }

    private mutating func object(_ path: String, _ places: inout JSONPlaces) -> Bool {
        step()
        while true {
            skip()
            if take("}") { return true }
            let start = line
            let isQuoted = next == UInt8(ascii: "\"") || next == UInt8(ascii: "'")
            let beginning = at
            guard let name = isQuoted ? string() : word() else { return false }
            guard isQuoted || !name.isEmpty else { return failHere("a name in quotes is missing here") }
            if name.hasPrefix("#"), !isQuoted { return fail(Self.hash, at: beginning) }
            skip()
            guard take(":") else { return failHere("a colon is missing after \"\(name.prefix(40))\"") }
            let key = JSONPlaces.joined(path, name)
            places.add(key, line: start)
            guard value(key, &places) else { return false }
            skip()
            if take(",") { continue }
            return take("}") || notClosed(by: "]")
        }
    }

    private mutating func array(_ path: String, _ places: inout JSONPlaces) -> Bool {
        step()
        var index = 0
        while true {
            skip()
            if take("]") { return true }
            let key = "\(path)[\(index)]"
            places.add(key, line: line)
            guard value(key, &places) else { return false }
            index += 1
            skip()
            if take(",") { continue }
            return take("]") || notClosed(by: "}")
        }
    }

    /// The value is followed neither by a comma nor by the matching bracket.
    private mutating func notClosed(by other: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: other), let start = open.last else {
            return failHere("a comma is missing before this")
        }
        let line = bytes[..<start].count { $0 == UInt8(ascii: "\n") } + 1
        return fail("this \(other) closes the \(UnicodeScalar(bytes[start])) of line \(line), which it can't")
    }

    /// Reads a name without quotes, a number, true, false or null.
    private mutating func word() -> String {
        let start = at
        while let byte = next, !",:{}[]\"'/".utf8.contains(byte), byte > 0x20 { step() }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    private static func isValue(_ word: String) -> Bool {
        if ["true", "false", "null"].contains(word) { return true }
        let unsigned = word.drop { $0 == "-" || $0 == "+" }
        guard word.count - unsigned.count <= 1 else { return false }
        if unsigned == "Infinity" || unsigned == "NaN" { return true }
        if unsigned.lowercased().hasPrefix("0x") { return UInt64(unsigned.dropFirst(2), radix: 16) != nil }
        let digits = unsigned.utf8.first.map { $0 &- 0x30 < 10 || $0 == UInt8(ascii: ".") } == true
        let isOctal = unsigned.hasPrefix("0") && unsigned.dropFirst().utf8.first.map { $0 &- 0x30 < 10 } == true
        // JSON5 allows ".5" and "5.".
        return digits && !isOctal && unsigned != "."
            && Double("0" + unsigned + (unsigned.hasSuffix(".") ? "0" : "")) != nil
    }

    private mutating func string() -> String? {
        guard let quote = next else { return nil }
        let start = at
        step()
        var text: [UInt8] = []
        while let byte = next {
            // A string that continues past an unescaped end of line counts as not closed.
            if byte == UInt8(ascii: "\n") { break }
            step()
            if byte == quote { return String(decoding: text, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard let escaped = next else { break }
            step()
            switch escaped {
            case UInt8(ascii: "n"): text.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "t"): text.append(UInt8(ascii: "\t"))
            case UInt8(ascii: "u"):
                let digits = bytes[at..<min(at + 4, bytes.count)]
                let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
                guard digits.count == 4, let number else {
                    _ = fail("\\u needs four hexadecimal digits", at: at - 2)
                    return nil
                }
                at += 4
                text += Array(String(Unicode.Scalar(number) ?? "\u{FFFD}").utf8)
            case UInt8(ascii: "\n"): break
            default: text.append(escaped)
            }
        }
        _ = fail("the text that begins here isn't closed", at: start)
        return nil
    }
}
