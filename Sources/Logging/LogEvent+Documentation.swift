extension LogEvent {
    /// Fields with the same meaning in almost every event: explained once, before the table.
    private static let usual: [(names: [String], meaning: String)] = [
        (["attempt", "chunks", "count", "entries", "types"], "how many"),
        (["consumer"], "its instance"),
        (["handler"], "its plugin"),
        (["id"], "the import's"),
        (["instance", "upstream"], "whose it is"),
        (["kind"], "the alert's"),
        (["pid"], "its process id"),
        (["port"], "where it listens"),
        (["seconds"], "how long it took, or until the next try"),
        (["subject"], "what it is about"),
        (["task"], "its identifier"),
        (["type"], "HealthKit's identifier, or other"),
        (["untold"], "how many weren't logged"),
        (["who"], "an identity or an address"),
        (["why"], "the reason, and what to do"),
    ]

    /// A table for a documentation page, ordered by category and name.
    package static func documentation(of events: [LogEvent]) -> String {
        let shared = usual.map { entry in
            "- \(entry.names.map { "`\($0)`" }.joined(separator: ", ")): \(entry.meaning)\n"
        }
        let order = events.sorted { ($0.category, $0.name) < ($1.category, $1.name) }
        let rows = order.map { event in
            let fields = event.fields.map(\.documentation).joined(separator: ", ")
            let level = event.failureLevel.map { "\(event.level), \($0) on failure" } ?? "\(event.level)"
            return "| `\(event.name)`, \(level) | \(event.meaning) | \(fields) |\n"
        }
        return shared.joined() + "\n| event, level | what it says | fields |\n| --- | --- | --- |\n" + rows.joined()
    }

    fileprivate static func isUsual(_ field: Field) -> Bool {
        usual.contains { $0.names.contains(field.name) && $0.meaning == field.meaning }
    }
}

extension LogEvent.Field {
    fileprivate var documentation: String { LogEvent.isUsual(self) ? "`\(name)`" : "`\(name)` (\(meaning))" }
}
