import Figures
import HealthModel
import Inspection
import ModelContext
import Terminal

/// Nights and naps, as in `healthbus nights`.
enum NightsTool: AssistantTool {
    static let tool = Tool(
        "get_nights", title: "Nights and naps",
        description:
            "Sleep: one row per night or nap, with minutes of each stage. A night belongs to the day on which it ends. "
            + "Without dates: the last seven. \"main\" false is a nap, or only time in bed if \"asleep_minutes\" is null.",
        parameters: EventAnswer.parameters, answers: EventAnswer.schema)

    static func answer(_ context: ToolContext, _ arguments: ToolArguments) throws -> ToolAnswer {
        try EventAnswer.make(.night, context, arguments)
    }
}

/// Workouts, as in `healthbus workouts`, without tracks.
enum WorkoutsTool: AssistantTool {
    static let tool = Tool(
        "get_workouts", title: "Workouts",
        description:
            "One row per workout: activity, start and end, duration without pauses, distance, energy, heart rate, "
            + "ascent. Without dates: the last seven. No row on a day means that none was recorded. Where somebody was "
            + "isn't in it.",
        parameters: EventAnswer.parameters, answers: EventAnswer.schema)

    static func answer(_ context: ToolContext, _ arguments: ToolArguments) throws -> ToolAnswer {
        try EventAnswer.make(.workout, context, arguments)
    }
}

private enum EventAnswer {
    static let parameters =
        ToolParameter.span + [ToolParameter("limit", .integer(1...366), "maximum rows, keeping the newest; default 31")]

    static let schema = ToolReport.schema([
        "units": ToolReport.unitsSchema, "missing": ToolReport.missingSchema, "notFinal": ToolReport.datesSchema,
        "events": ToolReport.rows(
            [
                "id": ["type": "string"], "date": ["type": "string"], "start": ["type": ["string", "null"]],
                "end": ["type": ["string", "null"]],
                "final": ["type": "boolean", "description": "whether the day it belongs to is final"],
            ], "by start; null: unknown"),
    ])

    /// Members that are given elsewhere for each event, or aren't useful to an assistant.
    private static let hidden: Set = ["user_id", "version", "start_date", "end_date", "metadata"]

    static func make(
        _ kind: EventRows.Kind, _ context: ToolContext, _ arguments: ToolArguments
    ) throws -> ToolAnswer {
        let range = try context.range(arguments)
        let limit = arguments.integer("limit") ?? (range.isEverything ? 7 : 31)
        let rows = try rows(kind, context, range, atLeast: limit)
        let events = Array(zip(rows.events, rows.value.array ?? []))
        let newest = events.suffix(limit)
        let states = try states(of: newest.map(\.0.day), context)
        let values = newest.map { event, columns -> Value in
            var members = (columns.object ?? [:]).filter { !hidden.contains($0.key) }
            members["start"] = context.local(event.start)
            members["end"] = context.local(event.end)
            members["final"] = .bool(states[event.day]?.isFinal == true)
            return .object(members)
        }
        let (shown, _) = AnswerLimits(rows: limit).last(values)
        let shownDays = Set(events.suffix(shown.count).map(\.0.day))

        let noun = kind == .night ? "night or nap" : "workout"
        var report = ToolReport(
            context,
            shown.isEmpty
                ? "There is no \(noun) in this span." : "\(HumanFormat.count(shown.count, kind.rawValue)), by start."
        )
        report["events"] = .array(shown)
        report["units"] = kind == .night ? nightUnits : workoutUnits
        report.note(of: states.values.filter { shownDays.contains($0.date) }.sorted { $0.date < $1.date })
        report["missing"] = .null
        if kind == .night {
            let dates = Set(events.filter { $0.0.body["main"].bool != false }.map(\.0.day)).sorted()
            report.note(ofMissing: range, dates: dates, what: "night")
        }
        let left = events.count - shown.count
        if left > 0, !range.isEverything {
            report.leave(
                out: "events", Value(left),
                how: "The earliest are left out for size: give narrower dates, or a limit of up to 366.")
        } else if range.isEverything, !shown.isEmpty {
            report.note("There may be earlier ones: give dates to see them.")
        }
        return report.answer()
    }

    /// Without dates, all years are read only if the last weeks and months don't contain enough.
    private static func rows(
        _ kind: EventRows.Kind, _ context: ToolContext, _ range: DateRange, atLeast count: Int
    ) throws -> EventRows {
        func rows(_ range: DateRange) throws -> EventRows {
            try EventRows(context.stack, context.reader, kind, user: context.user, range)
        }
        guard range.isEverything else { return try rows(range) }
        for back in [45, 400] {
            let found = try rows(DateRange(from: context.today.adding(days: -back)))
            if found.events.count >= count { return found }
        }
        return try rows(range)
    }

    /// The days that these events belong to.
    private static func states(of dates: [LocalDay], _ context: ToolContext) throws -> [LocalDay: DayState] {
        guard let first = dates.min(), let last = dates.max() else { return [:] }
        let wanted = Set(dates)
        let states = try context.days(DateRange(from: first, to: last)).days.compactMap { context.state($0) }
        var found = Dictionary(
            states.filter { wanted.contains($0.date) }.map { ($0.date, $0) }, uniquingKeysWith: { first, _ in first })
        // A day whose summary hasn't been computed yet isn't final.
        for date in wanted where found[date] == nil {
            found[date] = DayState(
                date, zone: nil, isFinal: false, revision: 0, waitsFor: [], zones: context.zones, now: context.now)
        }
        return found
    }

    private static let nightUnits: Value = .object(
        Dictionary(
            [
                "asleep", "in_bed", "awake", "core", "deep", "rem", "unspecified", "latency", "wake_after_onset",
            ].map { ($0 + "_minutes", Value.string("min")) } + [("efficiency", "fraction of the time in bed, 0 to 1")],
            uniquingKeysWith: { first, _ in first }))

    private static let workoutUnits: Value = [
        "duration_seconds": "s", "distance_meters": "m", "active_energy_kcal": "kcal",
        "heart_rate_average": "count/min", "heart_rate_min": "count/min", "heart_rate_max": "count/min",
        "ascent_meters": "m", "descent_meters": "m", "route_points": "count",
    ]
}
