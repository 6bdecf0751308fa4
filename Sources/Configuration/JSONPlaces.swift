/// The positions of the members of a JSON5 text, by their key paths ("instances.steps.plugin", "types[2]"), so that
/// mistakes can be reported with their line.
///
/// It doesn't read the values. It stops at the first thing that isn't JSON5, and keeps the positions found so far.
package struct JSONPlaces: Sendable, Equatable {
    /// A member that occurs more than once in an object; JSON readers silently keep one of them.
    package struct Duplicate: Sendable, Equatable {
        package var key: String
        package var first: Int
        package var line: Int

        package init(key: String, first: Int, line: Int) { (self.key, self.first, self.line) = (key, first, line) }
    }

    /// Counted from 1.
    private var lines: [String: Int] = [:]
    package private(set) var duplicates: [Duplicate] = []
    /// Where and why the text stops being JSON5; nil if it is JSON5 throughout.
    package private(set) var mistake: JSONMistake?

    package init() {}

    package init(_ text: some Sequence<UInt8>) {
        var reader = JSON5Reader(bytes: Array(text))
        reader.document(&self)
        mistake = reader.mistake
    }

    /// The line of a key; if the text doesn't contain it, the line of the nearest enclosing one.
    package func line(of key: String) -> Int? {
        var key = key[...]
        while true {
            if let line = lines[String(key)] { return line }
            guard let end = key.lastIndex(where: { $0 == "." || $0 == "[" }) else { return nil }
            key = key[..<end]
        }
    }

    mutating func add(_ key: String, line: Int) {
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
