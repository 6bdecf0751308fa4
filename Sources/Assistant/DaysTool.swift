import Figures
import HealthModel
import Inspection
import ModelContext

/// Daily figures, as in `healthbus days`.
enum DaysTool: AssistantTool {
    /// How many days are returned by default: without dates, and with dates but no limit.
    private static let usual = (newest: 7, limit: 31)

    static let tool = Tool(
        "get_days", title: "Daily figures",
        description:
            "Figures of days: steps, distance, energy, heart rate, sleep, weight and so on, each with its unit. "
            + "Without dates: the last seven days that have data. Each day says whether it is final, and how much of "
            + "it is over. Lists such as workouts and places come only if named in figures.",
        parameters: ToolParameter.span + [
            .figures, ToolParameter("limit", .integer(1...366), "maximum days, keeping the newest; default 31"),
        ],
        answers: ToolReport.schema([
            "units": ToolReport.unitsSchema, "missing": ToolReport.missingSchema, "notFinal": ToolReport.datesSchema,
            "figuresWithoutData": [
                "type": "array", "items": ["type": "string"], "description": "asked for, but no day here has them",
            ],
            "days": ToolReport.rows(
                DayState.schema.merging(["figures": ["type": "object", "description": "by name; null: no data"]]) {
                    $1
                },
                "by date"),
        ]))

    static func answer(_ context: ToolContext, _ arguments: ToolArguments) throws -> ToolAnswer {
        let range = try context.range(arguments)
        let choice = context.figures()
        let named = try arguments.texts("figures").map { try context.figures(named: $0, of: choice) }
        let found =
            try range.isEverything
            ? context.newestDays(arguments.integer("limit") ?? usual.newest) : context.days(range)
        let days = found.days.compactMap { day in context.state(day).map { (state: $0, summary: day) } }
            .filter { DaysReport.hasData($0.summary) }
        let filled = choice.all.filter { figure in days.contains { !figure.value(in: $0.summary).isNull } }
        let chosen = named ?? filled.filter(\.isNumber)
        let rows = days.map { day -> Value in
            let figures = chosen.map { ($0.name, $0.value(in: day.summary)) }
            return .object(
                day.state.members.merging(
                    ["figures": .object(Dictionary(figures, uniquingKeysWith: { first, _ in first }))]) { $1 })
        }
        let (shown, left) = AnswerLimits(rows: arguments.integer("limit") ?? usual.limit).last(rows)
        let states = days.suffix(shown.count).map(\.state)

        var report = ToolReport(context, headline(states, context))
        report["days"] = .array(shown)
        report["units"] = FigureChoice.units(chosen)
        report["figuresWithoutData"] = .array(
            chosen.filter { figure in !filled.contains { $0.name == figure.name } }.map { .string($0.name) })
        report.note(of: states)
        try report.note(ofDataEnd: states)
        report.note(ofMissing: range, dates: days.map(\.state.date), what: "data")
        if left > 0 {
            report.leave(
                out: "days", Value(left),
                how:
                    "The earliest are left out for size: give narrower dates or fewer figures, or a limit of up to 366."
            )
        }
        let lists = named == nil ? filled.filter { !$0.isNumber && hasContent($0, days.map(\.summary)) } : []
        if !lists.isEmpty {
            report.leave(
                out: "figures", .array(lists.map { .string($0.name) }),
                how: "These are lists, which are included only if they are named in figures.")
        }
        return report.answer()
    }

    /// An empty list counts as no data.
    private static func hasContent(_ figure: FigureChoice.Figure, _ days: [Value]) -> Bool {
        days.contains { day in
            let value = figure.value(in: day)
            return value.array?.isEmpty == false || value.object?.isEmpty == false
        }
    }

    private static func headline(_ states: [DayState], _ context: ToolContext) -> String {
        guard let first = states.first, let last = states.last else { return "No day of this span has data." }
        let final = states.count(where: \.isFinal)
        let days = states.count == 1 ? "1 day: \(first.date)" : "\(states.count) days, \(first.date) to \(last.date)"
        return "\(days); \(final) of \(states.count) final."
    }
}
