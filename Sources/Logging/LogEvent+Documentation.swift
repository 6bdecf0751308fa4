extension LogEvent {
    /// A table for a page of the documentation, ordered by category and name.
    package static func documentation(of events: [LogEvent]) -> String {
        let order = events.sorted { ($0.category, $0.name) < ($1.category, $1.name) }
        let rows = order.map { event in
            let fields = event.fields.map { "`\($0.name)` (\($0.meaning))" }.joined(separator: ", ")
            let level = event.failureLevel.map { "\(event.level), \($0) for a failure" } ?? "\(event.level)"
            return "| `\(event.name)` | \(event.category) | \(level) | \(event.meaning) | \(fields) |\n"
        }
        return "| event | category | level | what it says | fields |\n| --- | --- | --- | --- | --- |\n" + rows.joined()
    }
}
