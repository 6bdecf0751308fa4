import Figures
import HealthModel
import Inspection
import ModelContext

/// Hourly figures, as in `healthbus days --hourly`.
enum HoursTool: AssistantTool {
    static let tool = Tool(
        "get_hours", title: "Hourly figures",
        description:
            "Figures of each hour of the person's clock. Without dates: the last day that has data. An hour that isn't "
            + "over says so; later ones are left out. A day has 23 or 25 hours when clocks change.",
        parameters: ToolParameter.span + [
            .figures, ToolParameter("limit", .integer(1...31), "maximum days, keeping the newest; default 3"),
        ],
        answers: ToolReport.schema([
            "units": ToolReport.unitsSchema, "missing": ToolReport.missingSchema, "notFinal": ToolReport.datesSchema,
            "days": ToolReport.rows(
                DayState.schema.merging([
                    "hours": ToolReport.rows(
                        [
                            "hour": ["type": "integer"], "start": ["type": "string"], "over": ["type": "boolean"],
                            "figures": ["type": "object", "description": "by name; null: no data"],
                        ], "by start")
                ]) { $1 }, "by date"),
        ]))

    static func answer(_ context: ToolContext, _ arguments: ToolArguments) throws -> ToolAnswer {
        let range = try context.range(arguments)
        let limit = arguments.integer("limit") ?? 3
        let choice = context.figures(hourly: true)
        let named = try arguments.texts("figures").map { try context.figures(named: $0, of: choice) }
        let found = try range.isEverything ? context.newestDays(1) : context.days(range)
        let days = found.days.compactMap { day in context.state(day).map { (state: $0, summary: day) } }
            .filter { !hours(of: $0.summary).isEmpty && DaysReport.hasData($0.summary) }
        let newest = days.suffix(limit)
        let filled = choice.all.filter { figure in
            newest.contains { day in
                hours(of: day.summary).indices.contains { !figure.value(in: day.summary, hour: $0).isNull }
            }
        }
        let chosen = named ?? filled
        let rows = newest.map { day -> Value in
            .object(day.state.members.merging(["hours": .array(self.rows(day.summary, chosen, context))]) { $1 })
        }
        let (shown, _) = AnswerLimits(rows: limit).last(rows)
        let states = days.suffix(shown.count).map(\.state)

        let place = states.first.map { first in
            states.count == 1 ? "of \(first.date)" : "of \(states.count) days from \(first.date) on"
        }
        var report = ToolReport(context, place.map { "Hours \($0)." } ?? "No day of this span has hours.")
        report["days"] = .array(shown)
        report["units"] = FigureChoice.units(chosen)
        report.note(of: states)
        report.note(ofMissing: range, dates: days.map(\.state.date), what: "data")
        if days.count > shown.count {
            report.leave(
                out: "days", Value(days.count - shown.count),
                how: "The earliest are left out for size: give narrower dates or fewer figures, or a limit of up to 31."
            )
        }
        return report.answer()
    }

    private static func hours(of summary: Value) -> [Value] { summary["hours"]["start"].array ?? [] }

    private static func rows(
        _ summary: Value, _ figures: [FigureChoice.Figure], _ context: ToolContext
    ) -> [Value] {
        let starts = hours(of: summary).map { $0.string.flatMap { InstantText.parse($0) } }
        return starts.enumerated().compactMap { index, start in
            guard let start, start < context.now else { return nil }
            let local = context.zones.localText(of: start)
            let values = figures.map { ($0.name, $0.value(in: summary, hour: index)) }
            return [
                "hour": Value(Int(local.dropFirst(11).prefix(2))), "start": .string(local),
                "over": .bool(start + .seconds(3600) <= context.now),
                "figures": .object(Dictionary(values, uniquingKeysWith: { first, _ in first })),
            ]
        }
    }
}
