import HealthModel
import Inspection
import ModelContext
import Terminal

/// An answer being put together, along with everything it must state about itself.
struct ToolReport {
    private let context: ToolContext
    /// The first sentence.
    private let headline: String
    private var notes: [String] = []
    private var members: [String: Value] = [:]
    /// What was left out to keep the answer small, with the number of elements that its lists lost.
    private var left: [String: Value] = [:]
    private var ways: [String] = []

    init(_ context: ToolContext, _ headline: String) { (self.context, self.headline) = (context, headline) }

    subscript(name: String) -> Value {
        get { members[name] ?? .null }
        set { members[name] = newValue }
    }

    mutating func note(_ text: String) { notes.append(text) }

    /// - Parameters:
    ///   - what: the name under which `leftOut` lists what is left out.
    ///   - how: how to get what is left out.
    mutating func leave(out what: String, _ amount: Value, how: String) {
        left[what] = amount
        ways.append(how)
    }

    /// Adds a note about days that aren't over or aren't settled.
    mutating func note(of states: [DayState]) {
        for state in states where !state.isOver {
            note("\(state.date) is \(state.text). Don't compare it with whole days.")
        }
        let open = states.filter { !$0.isFinal && !($0.isOver && !$0.hasData) }
        let over = open.filter(\.isOver)
        if !over.isEmpty {
            note(
                "\(over.count) of these days \(over.count == 1 ? "is" : "are") over but not final: "
                    + "\(Self.list(over.map(\.date.description))).")
        }
        members["notFinal"] = .array(open.suffix(100).map { .string($0.date.description) })
    }

    /// Adds a note if the data ends in the middle of one of these days even though the day is over.
    mutating func note(ofDataEnd states: [DayState]) throws {
        guard let newest = try context.dataEnd, let text = newest.note(among: states) else { return }
        note(text)
    }

    /// Notes the days of a span for which nothing is stored.
    /// - Parameter what: what is missing on these days.
    mutating func note(ofMissing range: DateRange, dates: [LocalDay], what: String) {
        members["missing"] = .null
        guard let first = range.from ?? dates.first else { return }
        let last = min(range.to ?? context.today, context.today)
        let gaps = first <= last ? MissingDays.gaps(in: first.number...last.number, except: dates.map(\.number)) : []
        members["missing"] = MissingDays.value(gaps)
        if first > last { note("The span is in the future.") }
        guard !gaps.isEmpty else { return }
        let spans = gaps.suffix(5).map { gap in DayRuns.text(of: gap) }.joined(separator: "; ")
        let days = gaps.reduce(0) { $0 + $1.count }
        note(
            "There is no \(what) on \(HumanFormat.count(days, "day")) of the span: \(gaps.count > 5 ? "… " : "")\(spans)."
        )
    }

    private static func list(_ words: [String]) -> String {
        words.count > 10 ? "… " + words.suffix(10).joined(separator: ", ") : words.joined(separator: ", ")
    }

    /// What was left out, as text: names as they are, numbers with what they count.
    private static func words(_ left: Value) -> String {
        if let names = left.array { return names.map { $0.string ?? $0.json() }.joined(separator: ", ") }
        if let counts = left.object {
            return Value.inOrder(counts).map { "\($0.value.json()) in \($0.key)" }.joined(separator: ", ")
        }
        return left.string ?? left.json()
    }

    func answer() -> ToolAnswer {
        var notes = notes + context.notes
        if !left.isEmpty {
            let what = Value.inOrder(left).map { "\($0.key) (\(Self.words($0.value)))" }.joined(separator: ", ")
            notes.insert("Left out: \(what). \(ways.joined(separator: " "))", at: 0)
        }
        var content = members
        content = content.mapValues { LocalTimes.convert($0, context.zones) }
        content["user"] = .string(context.user)
        content["zone"] = .string(context.zones.zone(at: context.now))
        content["now"] = .string(context.zones.localText(of: context.now))
        content["today"] = .string(context.today.description)
        content["stack"] = .string(context.isRunning ? "running" : "stopped")
        content["leftOut"] =
            left.isEmpty ? .null : .object(left.merging(["how": .string(ways.joined(separator: " "))]) { $1 })
        content["notes"] = .array(notes.map { .string($0) })
        return ToolAnswer(([headline] + notes).joined(separator: "\n"), .object(content))
    }

    /// The JSON Schema of an answer that has these members in addition to the common ones.
    static func schema(_ own: [String: Value]) -> Value {
        let common: [String: Value] = [
            "user": ["type": "string"],
            "zone": ["type": "string", "description": "the person's time zone now; each day has its own"],
            "now": ["type": "string", "description": "the time of the answer on the person's clock"],
            "today": ["type": "string", "description": "the person's current date"],
            "stack": ["type": "string", "enum": ["running", "stopped"]],
            "leftOut": [
                "type": ["object", "null"], "description": "what was left out, and how to get it",
            ],
            "notes": [
                "type": "array", "items": ["type": "string"], "description": "caveats for using this answer",
            ],
        ]
        return [
            "type": "object", "properties": .object(common.merging(own) { $1 }),
            "required": .array((common.keys.sorted() + own.keys.sorted()).map { .string($0) }),
        ]
    }

    /// Of `missing`.
    static let missingSchema: Value = [
        "type": ["object", "null"], "description": "days of the span without any data",
        "properties": ["days": ["type": "integer"], "spans": ["type": "array", "items": ["type": "object"]]],
    ]
    /// Of `notFinal`.
    static let datesSchema: Value = ["type": "array", "items": ["type": "string"]]
    /// Of `units`.
    static let unitsSchema: Value = [
        "type": "object", "additionalProperties": ["type": "string"],
        "description": "by figure; empty: it has none",
    ]

    static func rows(_ properties: [String: Value], _ description: String) -> Value {
        [
            "type": "array", "description": .string(description),
            "items": ["type": "object", "properties": .object(properties)],
        ]
    }
}
