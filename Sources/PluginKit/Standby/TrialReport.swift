import HealthModel

/// What came of computing days beside the process that owns them: names and dates, never a health value.
public struct TrialReport: Sendable, Equatable {
    public struct Failed: Sendable, Equatable {
        public var date: String
        public var why: String
    }

    /// Days that have figures, and were computed.
    public var computed = 0
    /// Days without any samples, that were computed too.
    public var empty = 0
    /// Of the days computed those whose figures wait to be computed anew: they are compared with nothing.
    public var waiting = 0
    public var failed: [Failed] = []
    /// Days of which something differs.
    public var differing = 0
    /// What differs in any of them: names as in the daily summary; `hourly.<name>`, `events`.
    public var figures: Set<String> = []

    public init() {}

    /// Takes in what came of a day.
    /// - Parameter rows: what there is of that day; nil where that can't be compared.
    package mutating func take(_ output: DayOutput, rows: [(key: String, body: Value)]?) {
        guard let rows else {
            computed += 1
            waiting += 1
            return
        }
        if rows.isEmpty { empty += 1 } else { computed += 1 }
        let different = Self.differences(output, rows)
        if !different.isEmpty { differing += 1 }
        figures.formUnion(different)
    }

    private static func differences(_ output: DayOutput, _ rows: [(key: String, body: Value)]) -> Set<String> {
        let body = rows.first { $0.key.hasPrefix("figures/") }?.body ?? .null
        let events = rows.filter { $0.key.hasPrefix("event/") }.map(\.body)
        var names = names(output.figures, body["figures"])
        names.formUnion(self.names(output.hourly, body["hourly"]).map { "hourly.\($0)" })
        // As text: a number is one number, however its language writes it.
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

    public var wireValue: Value {
        [
            "computed": .integer(Int64(computed)), "waiting": .integer(Int64(waiting)), "empty": .integer(Int64(empty)),
            "failed": .array(failed.map { ["date": .string($0.date), "why": .string($0.why)] }),
            "differing": .integer(Int64(differing)), "figures": .array(figures.sorted().map { .string($0) }),
        ]
    }

    public init?(wireValue value: Value) {
        guard let computed = value["computed"].int, let empty = value["empty"].int,
            let differing = value["differing"].int
        else { return nil }
        self.computed = Int(computed)
        waiting = Int(value["waiting"].int ?? 0)
        self.empty = Int(empty)
        self.differing = Int(differing)
        failed = (value["failed"].array ?? []).map {
            Failed(date: $0["date"].string ?? "", why: $0["why"].string ?? "")
        }
        figures = Set((value["figures"].array ?? []).compactMap(\.string))
    }
}
