import Foundation

/// A line of a log, written by `Log` in either form; anything else on standard error (such as the last words of a
/// crash) is only `text`.
package struct LogLine: Sendable, Equatable {
    /// ISO 8601 with milliseconds, in UTC, which sorts as text. A line without a time gets that of the previous line.
    package var time: String
    /// nil for anything that isn't an event.
    package var level: Log.Level?
    package var instance: String
    package var category = ""
    package var event = ""
    package var fields: [Field] = []
    package var text: String

    package struct Field: Sendable, Equatable {
        package var key: String
        package var value: String
    }

    /// - Parameters:
    ///   - text: the line without its newline.
    ///   - before: the previous line's time, for a line without one.
    ///   - instance: the owner of the file.
    package init(_ text: String, instance: String, before: String) {
        self.init(time: before, level: nil, instance: instance, text: text)
        if text.hasPrefix("{") { readJSON() } else { readText() }
    }

    private init(time: String, level: Log.Level?, instance: String, text: String) {
        (self.time, self.level, self.instance, self.text) = (time, level, instance, text)
    }

    private mutating func readText() {
        let words = text.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: false)
        guard words.count >= 5, Self.isTime(words[0]), let level = Log.Level(rawValue: String(words[1])) else { return }
        (time, self.level, instance) = (String(words[0]), level, String(words[2]))
        (category, event) = (String(words[3]), String(words[4]))
        if words.count > 5 { fields = Self.fields(words[5]) }
    }

    private mutating func readJSON() {
        guard let members = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            let time = members["time"] as? String, Self.isTime(time[...]),
            let level = (members["level"] as? String).flatMap(Log.Level.init(rawValue:)),
            let category = members["category"] as? String, let event = members["event"] as? String
        else { return }
        (self.time, self.level, self.category, self.event) = (time, level, category, event)
        instance = members["plugin"] as? String ?? instance
        fields = (members["fields"] as? [String: Any] ?? [:]).sorted { $0.key < $1.key }
            .map { Field(key: $0.key, value: "\($0.value)") }
    }

    /// "2026-02-03T04:05:06.789Z"
    private static func isTime(_ word: Substring) -> Bool {
        let bytes = Array(word.utf8)
        return bytes.count == 24 && bytes[10] == UInt8(ascii: "T") && bytes[23] == UInt8(ascii: "Z")
    }

    /// `key=value key="quoted value"`.
    private static func fields(_ text: Substring) -> [Field] {
        var fields: [Field] = []
        var rest = text
        while let equals = rest.firstIndex(of: "=") {
            let key = String(rest[..<equals].drop { $0 == " " })
            rest = rest[rest.index(after: equals)...]
            var end = rest.firstIndex(of: " ") ?? rest.endIndex
            if rest.first == "\"", let close = closingQuote(rest) {
                end = rest.index(after: close)
                let value = try? JSONDecoder().decode(String.self, from: Data(rest[..<end].utf8))
                fields.append(Field(key: key, value: value ?? String(rest[..<end])))
            } else {
                fields.append(Field(key: key, value: String(rest[..<end])))
            }
            rest = rest[end...]
        }
        return fields
    }

    private static func closingQuote(_ text: Substring) -> Substring.Index? {
        var index = text.index(after: text.startIndex)
        while index < text.endIndex {
            switch text[index] {
            case "\"": return index
            case "\\": index = text.index(index, offsetBy: 2, limitedBy: text.endIndex) ?? text.endIndex
            default: index = text.index(after: index)
            }
        }
        return nil
    }
}

extension LogLine {
    /// One line to show to a person, without its newline; control characters are made harmless.
    package var line: String {
        guard level != nil else { return Self.harmless(text) }
        // A line written as text is shown as it is; the log has escaped whatever needed it.
        guard text.hasPrefix("{") else { return text }
        let known = [time, level?.rawValue ?? "", instance, category, event]
        return (known + fields.map { "\($0.key)=\(Self.harmless($0.value))" }).joined(separator: " ")
    }

    /// One JSON object, without its newline: the members of `HEALTHBUS_LOG=json`, with all fields as text; `text` for
    /// anything that isn't an event.
    package var json: String {
        var members = [("time", Log.quoted(time)), ("plugin", Log.quoted(instance))]
        if let level {
            let fields = fields.map { "\(Log.quoted($0.key)):\(Log.quoted($0.value))" }.joined(separator: ",")
            members += [
                ("level", Log.quoted(level.rawValue)), ("category", Log.quoted(category)), ("event", Log.quoted(event)),
                ("fields", "{\(fields)}"),
            ]
        } else {
            members.append(("text", Log.quoted(text)))
        }
        return "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    private static func harmless(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
