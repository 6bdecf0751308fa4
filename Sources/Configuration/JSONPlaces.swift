/// Where the members of a JSON5 text are, by their key paths ("instances.steps.plugin", "types[2]"), so that its author
/// can be told the line.
///
/// Others read the values. It stops at the first thing that isn't JSON5 and keeps what it has found so far.
package struct JSONPlaces: Sendable, Equatable {
    /// A member that an object names more than once; JSON readers silently keep one of them.
    package struct Duplicate: Sendable, Equatable {
        package var key: String
        package var first: Int
        package var line: Int

        package init(key: String, first: Int, line: Int) {
            self.key = key
            self.first = first
            self.line = line
        }
    }

    /// Counted from 1.
    private var lines: [String: Int] = [:]
    package private(set) var duplicates: [Duplicate] = []

    package init() {}

    package init(_ text: some Sequence<UInt8>) {
        var reader = Reader(bytes: Array(text))
        reader.value("", &self)
    }

    /// The line of a key; if the text doesn't have it, that of the nearest enclosing one.
    package func line(of key: String) -> Int? {
        var key = key[...]
        while true {
            if let line = lines[String(key)] { return line }
            guard let end = key.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            key = key[..<end]
        }
    }

    fileprivate mutating func add(_ key: String, line: Int) {
        if let first = lines[key] {
            // Anything inside a duplicated member is duplicated too.
            if duplicates.contains(where: { key.hasPrefix($0.key + ".") || key.hasPrefix($0.key + "[") }) { return }
            duplicates.append(Duplicate(key: key, first: first, line: line))
        } else {
            lines[key] = line
        }
    }

    static func joined(_ path: String, _ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
}

private struct Reader {
    let bytes: [UInt8]
    var at = 0
    var line = 1
    private var depth = 0

    /// The deepest nesting of configurations that are read at all.
    private static let depthLimit = 64

    init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

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
                step()
                step()
                while let byte = next, !(byte == UInt8(ascii: "/") && bytes[at - 1] == UInt8(ascii: "*")) { step() }
                if next != nil { step() }
            } else if byte <= 0x20 || byte == 0xC2 || byte == 0xA0 || byte == 0xEF || byte == 0xBB || byte == 0xBF {
                // Including a no-break space and a byte-order mark, which JSON5 allows.
                step()
            } else {
                return
            }
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        step()
        return true
    }

    /// Returns false when what follows can't be understood.
    @discardableResult
    mutating func value(_ path: String, _ places: inout JSONPlaces) -> Bool {
        skip()
        guard let byte = next, depth < Self.depthLimit else { return false }
        depth += 1
        defer { depth -= 1 }
        switch byte {
        case UInt8(ascii: "{"): return object(path, &places)
        case UInt8(ascii: "["): return array(path, &places)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return string() != nil
        default: return !word().isEmpty
        }
    }

    private mutating func object(_ path: String, _ places: inout JSONPlaces) -> Bool {
        step()
        while true {
            skip()
            if take("}") { return true }
            let start = line
            let isQuoted = next == UInt8(ascii: "\"") || next == UInt8(ascii: "'")
            guard let name = isQuoted ? string() : word(), isQuoted || !name.isEmpty else { return false }
            skip()
            guard take(":") else { return false }
            let key = JSONPlaces.joined(path, name)
            places.add(key, line: start)
            guard value(key, &places) else { return false }
            skip()
            if take(",") { continue }
            return take("}")
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
            return take("]")
        }
    }

    /// A name without quotes, a number, true, false, null.
    private mutating func word() -> String {
        let start = at
        while let byte = next, !",:{}[]\"'/".utf8.contains(byte), byte > 0x20 { step() }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    private mutating func string() -> String? {
        guard let quote = next else { return nil }
        step()
        var text: [UInt8] = []
        while let byte = next {
            step()
            if byte == quote { return String(decoding: text, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard let escaped = next else { return nil }
            step()
            switch escaped {
            case UInt8(ascii: "n"): text.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "t"): text.append(UInt8(ascii: "\t"))
            case UInt8(ascii: "u"):
                let digits = bytes[at..<min(at + 4, bytes.count)]
                let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
                guard digits.count == 4, let number else { return nil }
                at += 4
                text += Array(String(Unicode.Scalar(number) ?? "\u{FFFD}").utf8)
            case UInt8(ascii: "\n"): break
            default: text.append(escaped)
            }
        }
        return nil
    }
}
