import HealthModel
import Protocol

extension TrialReport {
    /// Adds the result of a day.
    /// - Parameter rows: the day's existing rows; nil if they can't be compared.
    package mutating func take(
        _ output: DayOutput, user: String = "me", date: String = "", rows: [(key: String, body: Value)]?
    ) {
        guard let rows else {
            computed += 1
            waiting += 1
            return
        }
        if rows.isEmpty { empty += 1 } else { computed += 1 }
        let different = Self.differences(output, rows)
        if !different.isEmpty { differing += 1 }
        figures = Set(figures).union(different).sorted()
        let body = rows.first { $0.key.hasPrefix("figures/") }?.body ?? .null
        for name in different.sorted() where name != "events" && !name.hasPrefix("hourly.") {
            changes.append(
                TrialChange(
                    user: user, date: date, figure: name, before: body["figures"][name],
                    after: output.figures[name] ?? .null))
        }
    }

    private static func differences(_ output: DayOutput, _ rows: [(key: String, body: Value)]) -> Set<String> {
        let body = rows.first { $0.key.hasPrefix("figures/") }?.body ?? .null
        let events = rows.filter { $0.key.hasPrefix("event/") }.map(\.body)
        var names = names(output.figures, body["figures"])
        names.formUnion(self.names(output.hourly, body["hourly"]).map { "hourly.\($0)" })
        // Compared as text, in which equal numbers look the same, however the handler's language writes them.
        let new = output.events.map { event -> String in
            Value.object(["id": .string(event.id), "kind": .string(event.kind), "event": event.payload]).json()
        }
        if Set(new) != Set(events.map { $0.json() }) { names.insert("events") }
        return names
    }

    private static func names(_ new: [String: Value], _ old: Value) -> Set<String> {
        let old = old.object ?? [:]
        return Set(new.keys).union(old.keys).filter { new[$0]?.json() != old[$0]?.json() }
    }
}
