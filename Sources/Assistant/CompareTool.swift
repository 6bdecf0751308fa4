import Figures
import HealthModel
import Inspection
import Logging
import ModelContext
import Terminal

/// Compares two spans of days. Only whole days count, so that a whole day is never compared with part of a day.
enum CompareTool: AssistantTool {
    private static let spanSchema: Value = [
        "type": "object",
        "properties": [
            "from": ["type": "string"], "to": ["type": "string"], "daysInSpan": ["type": "integer"],
            "daysCounted": ["type": "integer"], "notCounted": ToolReport.datesSchema,
            "missing": ToolReport.missingSchema,
        ],
    ]

    static let tool = Tool(
        "compare_spans", title: "Compare two spans",
        description:
            "Means, medians, smallest and largest daily figures of two spans of days, and how the second differs from "
            + "the first. Only days that are final count, unless include_not_final is true; days that aren't over "
            + "never do. A figure counts on the days that have it: compare \"days\" of both sides first.",
        parameters: [
            ToolParameter(
                "first", .text, "a day or span: 2025-03, last-month, 2025-03-30, 7d, 2025-03-01..2025-03-25",
                isRequired: true),
            ToolParameter("second", .text, "the other, in the same forms", isRequired: true), .figures,
            ToolParameter("include_not_final", .flag, "also count days that are over but not final; default false"),
        ],
        answers: ToolReport.schema([
            "units": ToolReport.unitsSchema, "first": spanSchema, "second": spanSchema,
            "figures": [
                "type": "object",
                "description":
                    "by name: first and second with days, mean, median, min, max; difference: second minus first",
            ],
        ]))

    private struct Side {
        var range: DateRange
        var counted: [Value]
        /// The states of the days that count.
        var states: [DayState]
        var notCounted: [DayState]
        var missing: [ClosedRange<Int>]
    }

    static func answer(_ context: ToolContext, _ arguments: ToolArguments) throws -> ToolAnswer {
        let choice = context.figures()
        let named = try arguments.texts("figures").map { try context.figures(named: $0, of: choice) }
        if let list = named?.first(where: { !$0.isNumber }) {
            throw Failure.usage("\(list.name) isn't a number", hint: "get_days and get_workouts have lists")
        }
        let isOpenCounted = arguments.flag("include_not_final")
        let sides = try ["first", "second"].map { name in
            try side(context.span(arguments.text(name) ?? "", name), context, isOpenCounted)
        }
        let days = sides.flatMap(\.counted)
        let chosen =
            named
            ?? choice.all.filter { figure in
                figure.isNumber && days.contains { !figure.value(in: $0).isNull }
            }
        let figures = chosen.map { figure -> (String, Value) in
            let both = sides.map { side in
                FigureOverDays(numbers: side.counted.compactMap { figure.value(in: $0).double })
            }
            return (
                figure.name,
                [
                    "first": both[0].value, "second": both[1].value,
                    "difference": FigureOverDays.difference(both[0], both[1]),
                ]
            )
        }

        var report = ToolReport(
            context, "First: \(words(sides[0])). Second: \(words(sides[1])). Differences are second minus first.")
        report["units"] = FigureChoice.units(chosen)
        report["figures"] = .object(Dictionary(figures, uniquingKeysWith: { first, _ in first }))
        report["first"] = value(sides[0])
        report["second"] = value(sides[1])
        if sides[0].counted.count != sides[1].counted.count {
            report.note("The spans count different numbers of days: compare means, not sums.")
        }
        try report.note(ofDataEnd: sides.flatMap(\.states))
        for (name, side) in zip(["first", "second"], sides) {
            if !side.notCounted.isEmpty {
                report.note(
                    "Not counted of the \(name), since they aren't \(isOpenCounted ? "over" : "final"): "
                        + "\(side.notCounted.suffix(10).map(\.date.description).joined(separator: ", ")).")
            }
            if !side.missing.isEmpty {
                report.note(
                    "The \(name) has no data on \(HumanFormat.count(side.missing.reduce(0) { $0 + $1.count }, "day")): "
                        + "\(side.missing.suffix(5).map { DayRuns.text(of: $0) }.joined(separator: "; ")).")
            }
        }
        return report.answer()
    }

    private static func side(_ range: DateRange, _ context: ToolContext, _ isOpenCounted: Bool) throws -> Side {
        let days = try context.days(range).days.filter(DaysReport.hasData)
            .compactMap { day in context.state(day).map { (state: $0, summary: day) } }
        func counts(_ state: DayState) -> Bool { state.isFinal || isOpenCounted && state.isOver }
        // Future days don't count as missing.
        let from = (range.from ?? context.today).number
        let last = min(range.to ?? context.today, context.today).number
        return Side(
            range: range, counted: days.filter { counts($0.state) }.map(\.summary),
            states: days.map(\.state).filter(counts),
            notCounted: days.map(\.state).filter { !counts($0) },
            missing: from <= last ? MissingDays.gaps(in: from...last, except: days.map(\.state.date.number)) : [])
    }

    private static func value(_ side: Side) -> Value {
        let days = (side.range.from?.number ?? 0)...(side.range.to?.number ?? 0)
        return [
            "from": Value(side.range.from?.description), "to": Value(side.range.to?.description),
            "daysInSpan": Value(days.count), "daysCounted": Value(side.counted.count),
            "notCounted": .array(side.notCounted.suffix(100).map { .string($0.date.description) }),
            "missing": MissingDays.value(side.missing),
        ]
    }

    private static func words(_ side: Side) -> String {
        let (from, to) = (side.range.from?.description ?? "", side.range.to?.description ?? "")
        return "\(from == to ? from : "\(from) to \(to)"), \(HumanFormat.count(side.counted.count, "day")) counted"
    }
}
