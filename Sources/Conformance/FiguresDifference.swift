import HealthModel

/// How two computations of the same days differ. Numbers must be equal bit for bit.
enum FiguresDifference {
    /// The difference in words; nil when the two are equal.
    static func between(_ first: DayOutput, _ second: DayOutput, now: String, before: String) -> String? {
        between(value(first), value(second), at: "", now: now, before: before)
    }

    /// Compares all rows by key.
    static func between(_ first: [String: Value], _ second: [String: Value], now: String, before: String) -> String? {
        between(.object(first), .object(second), at: "", now: now, before: before)
    }

    private static func value(_ output: DayOutput) -> Value {
        [
            "figures": .object(output.figures), "hourly": .object(output.hourly),
            "events": .object(
                Dictionary(output.events.map { ($0.id, ["kind": .string($0.kind), "payload": $0.payload]) }) { a, _ in a
                }),
        ]
    }

    private static func between(_ a: Value, _ b: Value, at path: String, now: String, before: String) -> String? {
        switch (a, b) {
        case (.object(let a), .object(let b)):
            for key in Set(a.keys).union(b.keys).sorted() {
                let place = path.isEmpty ? key : "\(path).\(key)"
                if let found = between(a[key] ?? .null, b[key] ?? .null, at: place, now: now, before: before) {
                    return found
                }
            }
            return nil
        case (.array(let a), .array(let b)) where a.count == b.count:
            for index in a.indices {
                let place = "\(path)[\(index)]"
                if let found = between(a[index], b[index], at: place, now: now, before: before) { return found }
            }
            return nil
        default:
            // Values are compared as text, in which 3 and 3.0 are the same number.
            guard a.json() != b.json() else { return nil }
            func text(_ value: Value) -> String {
                let text = value.isNull ? "missing" : value.json()
                return text.count > 60 ? text.prefix(60) + "…" : text
            }
            return "\(path) is \(text(b)) \(now), and \(text(a)) \(before)"
        }
    }
}
