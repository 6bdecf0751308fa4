import Configuration
import HealthModel
import HealthViews
import Inspection
import ModelContext
import Protocol

/// Lists what can be asked about.
enum MetricsTool: AssistantTool {
    static let tool = Tool(
        "list_metrics", title: "List metrics",
        description:
            "The figures that days and hours can have, with their units and the names that other tools take; and the "
            + "types of samples that are stored, with how many, and from when until when. Call this first.",
        parameters: [],
        answers: ToolReport.schema([
            "figures": ToolReport.rows(
                [
                    "name": ["type": "string"], "unit": ["type": "string"], "form": ["type": "string"],
                    "hourly": ["type": "boolean"],
                    "explain": ["type": ["string", "null"], "description": "the metric for explain_figure"],
                ], "of days"),
            "types": ToolReport.rows(
                [
                    "type": ["type": "string"], "samples": ["type": "integer"],
                    "first": ["type": ["string", "null"]], "last": ["type": ["string", "null"]],
                    "unit": ["type": "string"],
                ], "what is stored about this person"),
        ]))

    static func answer(_ context: ToolContext, _ arguments: ToolArguments) throws -> ToolAnswer {
        let hourly = context.figures(hourly: true)
        let declared = context.stack.configuration.figures
        let figures = context.figures().all.map { figure -> Value in
            let declaration = declared.first { figure.column.isCalled($0.path.joined(separator: ".")) }
            return [
                "name": .string(figure.name), "unit": .string(figure.unit),
                "form": .string((declaration?.form ?? .number).rawValue),
                "hourly": .bool(
                    declaration?.hourly.map { name in hourly.all.contains { $0.column.isCalled(name) } } ?? false),
                "explain": Value(figure.others.first ?? declaration?.path.joined(separator: ".")),
            ]
        }
        let types = try context.types().map { row -> Value in
            [
                "type": .string(row.type), "samples": Value(row.alive), "first": context.local(row.firstStart),
                "last": context.local(row.lastEnd ?? row.lastStart),
                "unit": .string(HealthType.named(row.type).unit),
            ]
        }
        let (shown, left) = AnswerLimits(rows: 500).first(types)
        var report = ToolReport(context, "\(figures.count) daily figures; samples of \(types.count) types.")
        report["figures"] = .array(figures)
        report["types"] = .array(shown)
        if left > 0 {
            report.leave(out: "types", Value(left), how: "They are left out for size; search_samples takes them too.")
        }
        report.note("get_days says whether a day has a figure. A type without a figure of its own is in \"other\".")
        return report.answer()
    }
}
