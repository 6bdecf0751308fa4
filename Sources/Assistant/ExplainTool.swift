import Figures
import HealthModel
import Inspection
import JSON
import Logging
import ModelContext

/// Where a figure comes from, as in `healthbus explain`.
enum ExplainTool: AssistantTool {
    static let tool = Tool(
        "explain_figure", title: "Explain a figure",
        description:
            "Why a day's figure is what it is: the rule, which sources counted and what each added, and whether the "
            + "day's summary agrees.",
        parameters: [
            ToolParameter(
                "metric", .text, "such as steps, sleep, workouts, or a type such as DistanceCycling", isRequired: true),
            ToolParameter("date", .text, "one day: 2025-03-30, today, yesterday", isRequired: true),
            ToolParameter(
                "limit", .integer(1...500), "maximum elements in each list: intervals, samples, hours; default 25"),
        ],
        answers: ToolReport.schema([
            "unit": ["type": "string"], "date": ["type": "string"], "notFinal": ToolReport.datesSchema,
            "dayState": ["type": "string"], "explanation": ["type": "object"],
        ]))

    static func answer(_ context: ToolContext, _ arguments: ToolArguments) throws -> ToolAnswer {
        let metric = arguments.text("metric") ?? ""
        let span = try context.span(arguments.text("date") ?? "", "date")
        guard let day = span.from, day == span.to else {
            throw Failure.usage("date is more than a day", hint: "give one, such as 2025-03-30")
        }
        let explained =
            try OwnFigureReport(context.stack, metric: metric, day: day, user: context.user)?.shownValue
            ?? ExplainReport(context.stack, context.reader, metric: metric, day: day, user: context.user)
            .shownValue
        var left: [String: Value] = [:]
        // The path of a handler's manifest says nothing about the figure.
        let shown = Value.object((explained.object ?? [:]).filter { $0.key != "plugin" })
        let explanation = AnswerLimits.cut(shown, to: arguments.integer("limit") ?? 25, left: &left)
        let summary = try ExplainReport.summary(context.stack, context.reader, user: context.user, day: day)
        let state =
            context.state(summary)
            ?? DayState(
                day, zone: nil, isFinal: false, revision: 0, waitsFor: [], hasData: false, zones: context.zones,
                now: context.now)

        let unit = explained["unit"].string ?? ""
        var report = ToolReport(context, headline(explained, state, unit))
        report["explanation"] = explanation
        report["unit"] = .string(unit)
        report["date"] = .string(day.description)
        report["dayState"] = .string(state.text)
        report.note(of: [state])
        try report.note(ofDataEnd: [state])
        if explained["agrees"] == false {
            report.note("The day's summary doesn't agree: it isn't computed again yet, or its handler has other rules.")
        }
        if !left.isEmpty {
            report.leave(
                out: "elements", .object(left),
                how: "Only the first elements of these lists are here, for size: give a larger limit.")
        }
        return report.answer()
    }

    private static func headline(_ explained: Value, _ state: DayState, _ unit: String) -> String {
        let name = explained["metric"].string ?? ""
        let value = explained["value"].isNull ? explained["figure"] : explained["value"]
        let shown =
            value.double.map { JSONNumber.text($0) + (unit.isEmpty ? "" : " " + unit) }
            ?? (value.isNull ? "no data, which is not 0" : "see the explanation")
        let rule = explained["rule"].string.map { " " + $0 } ?? ""
        return "\(name) on \(state.date): \(shown). The day is \(state.text).\(rule)"
    }
}
