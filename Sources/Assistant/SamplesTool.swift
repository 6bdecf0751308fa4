import HealthModel
import Inspection
import Logging
import ModelContext
import Protocol

/// Samples as they are stored, as in `healthbus samples`.
enum SamplesTool: AssistantTool {
    static let tool = Tool(
        "search_samples", title: "Search samples",
        description:
            "Single measurements of one to ten types, oldest first, as stored: watch and phone both count the same "
            + "steps, so never add samples up; get_days has figures. Without dates: the last seven days up to the "
            + "newest of these samples. skip continues where an answer ended.",
        parameters: [
            ToolParameter(
                "types", .texts(atMost: 10),
                "such as HeartRate or HKQuantityTypeIdentifierHeartRate; list_metrics has all", isRequired: true),
            ToolParameter("source", .text, "only sources with this in their name"),
        ] + ToolParameter.span + [
            ToolParameter("limit", .integer(1...1000), "maximum samples; default 100"),
            ToolParameter("skip", .integer(0...1_000_000), "how many samples to skip first; default 0"),
            ToolParameter("details", .flag, "include metadata and payload; default false"),
        ],
        answers: ToolReport.schema([
            "from": ["type": ["string", "null"]], "to": ["type": ["string", "null"]],
            "total": ["type": "integer", "description": "how many; at least this many if totalIsExact is false"],
            "totalIsExact": ["type": "boolean"],
            "samples": ToolReport.rows(
                [
                    "id": ["type": "string"], "type": ["type": "string"], "start": ["type": "string"],
                    "end": ["type": "string"], "value": ["type": ["number", "null"]],
                    "unit": ["type": ["string", "null"], "description": "of the value"],
                    "source": ["type": ["string", "null"]],
                ], "by start; start and end on the person's clock"),
        ]))

    /// The maximum number of rows to count beyond those in an answer.
    private static let counted = 50_000

    static func answer(_ context: ToolContext, _ arguments: ToolArguments) throws -> ToolAnswer {
        let held = try context.types()
        let types = try (arguments.texts("types") ?? []).map { try identifier($0, known: held.map(\.type)) }
        guard !types.isEmpty else { throw Failure.usage("types is empty", hint: "list_metrics has all types") }
        guard !types.contains(HealthType.workoutIdentifier) else {
            throw Failure.usage("workouts aren't samples here", hint: "get_workouts has them")
        }
        var wish = SampleExport.Wish(user: context.user)
        wish.types = types
        wish.source = arguments.text("source")
        wish.range = try context.range(arguments)
        let newest = held.filter { types.contains($0.type) }.compactMap(\.lastStart).max()
        if wish.range.isEverything, let last = newest.map({ context.zones.day(of: $0) }) {
            wish.range = DateRange(from: last.adding(days: -6), to: last)
        }
        let limit = arguments.integer("limit") ?? 100
        let skip = arguments.integer("skip") ?? 0
        wish.limit = skip + limit + counted
        let rows = SampleRows(skip: skip, limit: limit)
        let output = RowOutput(SampleExport.columns, .lines) { bytes in
            rows.take(bytes)
            return context.isWanted()
        }
        try SampleExport(context.stack, wish).write(to: output, isShort: false)
        let samples = try rows.lines.map { line in
            try row(Value(json: line), context, details: arguments.flag("details"))
        }
        let (shown, _) = AnswerLimits(rows: limit).first(samples)

        let isExact = rows.count < (wish.limit ?? .max)
        var report = ToolReport(
            context, "\(shown.count) of \(isExact ? "" : "more than ")\(rows.count) samples, oldest first.")
        report["samples"] = .array(shown)
        report["from"] = Value(wish.range.from?.description)
        report["to"] = Value(wish.range.to?.description)
        report["total"] = Value(rows.count)
        report["totalIsExact"] = .bool(isExact)
        report.note("Samples are as stored: sources overlap, so they must not be added up. Figures are in get_days.")
        for apart in HeldStatistics(held).of(context.user, types: types).rows {
            let name = TypeName.short(HealthType.statistics(of: apart.type))
            report.note("\(apart.count) sums or means of \(apart.type) aren't samples: the type \(name) has them.")
        }
        let left = rows.count - skip - shown.count
        if left > 0 {
            report.leave(
                out: "samples", Value(left),
                how:
                    "The later ones are left out for size: give narrower dates, or skip \(skip + shown.count) to go on."
            )
        }
        let absent = types.filter { type in !held.contains { $0.type == type } }
        if !absent.isEmpty { report.note("Nothing is stored of \(absent.joined(separator: ", ")).") }
        return report.answer()
    }

    /// - Throws: `Failure` (usage) that suggests the nearest name, or else the tool that lists the names.
    private static func identifier(_ text: String, known: [String]) throws(Failure) -> String {
        do throws(Failure) { return try TypeName.identifier(text, known: known) } catch {
            let isNear = error.hint?.hasPrefix("did you mean") == true
            throw .usage(error.message, hint: isNear ? error.hint : "list_metrics lists those that are stored")
        }
    }

    private static func row(_ sample: Value, _ context: ToolContext, details: Bool) -> Value {
        func local(_ name: String) -> Value { context.local(sample[name].string.flatMap { InstantText.parse($0) }) }
        var members: [String: Value] = ["start": local("start_date"), "end": local("end_date")]
        for name in ["id", "type", "value", "unit", "source", "source_type"] { members[name] = sample[name] }
        if HealthType.named(sample["type"].string ?? "").isFraction {
            members["value"] = ShownFraction.percent(sample["value"])
        }
        if details {
            members["metadata"] = sample["metadata"]
            // Locations never leave the stack.
            members["payload"] = sample["type"].string == HealthType.locationIdentifier ? .null : sample["payload"]
        }
        return .object(members)
    }
}

/// Receives the lines of an output, keeps those for one answer, and counts all of them.
private final class SampleRows {
    private let skip: Int
    private let limit: Int
    private(set) var count = 0
    private(set) var lines: [[UInt8]] = []

    init(skip: Int, limit: Int) { (self.skip, self.limit) = (skip, limit) }

    /// - Parameter bytes: whole lines.
    func take(_ bytes: UnsafeBufferPointer<UInt8>) {
        for line in bytes.split(separator: 0x0A) {
            if count >= skip, count < skip + limit { lines.append(Array(line)) }
            count += 1
        }
    }
}
