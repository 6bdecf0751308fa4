import Figures
import Inspection
import Logging
import Terminal

enum ExplainCommand: Command {
    static let help = CommandHelp(
        name: "healthbus explain",
        summary: "Show why a day's figure is what it is: which source counted when, and what it added.",
        positionals: [.init("figure"), .init("date")],
        options: CommandHelp.stackOptions + [
            .init("--hour", help: "by hour"),
            .init("--all", help: "every single interval and sample, however many"),
            .user("whose day (default: me)"), .json,
        ],
        examples: [
            "healthbus explain steps 2025-03-30", "healthbus explain sleep 2025-03-30 --json",
            "healthbus explain workouts 2025-03-30", "healthbus explain DistanceCycling 2025-03-30 --hour",
        ], mistake: { ExplainedMetric.mistake($0) })

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let days = try DateRange.days(arguments.positionals[1], "the date") { try stack.today(of: arguments.user) }
        guard days.first == days.last else {
            throw Failure.usage("\(arguments.positionals[1]) is more than a day", hint: "give one, such as 2025-03-30")
        }
        let metric = arguments.positionals[0]
        if let own = try OwnFigureReport(stack, metric: metric, day: days.first, user: arguments.user) {
            guard !arguments.flag("--hour"), !arguments.flag("--all") else {
                throw Failure.usage(
                    "only its handler knows how '\(metric)' is computed: there is nothing more to show",
                    hint: "leave out --hour and --all; 'healthbus days --hourly' shows its hours")
            }
            arguments.print(json: own.json, else: own.text(for: Terminal(.output)))
            return
        }
        let report = try ExplainReport(stack, stack.reader(), metric: metric, day: days.first, user: arguments.user)
        let shown = ExplainOptions(byHour: arguments.flag("--hour"), all: arguments.flag("--all"))
        try arguments.print(json: report.json, else: report.text(shown, for: Terminal(.output)))
    }
}

enum CheckCommand: Command {
    static let help = CommandHelp(
        name: "healthbus check",
        summary:
            "Compare the figures with Apple's rings, and show what is missing, came late or was written several times.",
        options: CommandHelp.stackOptions + [
            .from(), .to(), .last,
            .init(
                "--tolerance", value: "number",
                help: "how much figures may differ, in kcal and min, or as 2% (default: 1 or 1%, the larger)"
            ),
            .user("whose days (default: me)"), .json,
        ],
        examples: ["healthbus check", "healthbus check --from 2025-01-01 --tolerance 5%"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let range = try arguments.dateRange(stack, user: arguments.user)
        let options = CheckReport.Options(
            user: arguments.user, from: range.from, to: range.to,
            tolerance: try tolerance(arguments.value("--tolerance")))
        let report = try CheckReport(stack, options)
        if let remark = report.remark {
            StandardStream.error.write(stack.advice.addressed("\(remark); this covers only what is there so far\n"))
        }
        arguments.print(json: report.json, else: stack.advice.addressed(report.text(for: Terminal(.output))))
    }

    private static func tolerance(_ text: String?) throws -> RingComparison.Tolerance {
        guard let text else { return .standard }
        let isPercent = text.hasSuffix("%")
        guard let number = Double(isPercent ? String(text.dropLast()) : text), number.isFinite, number >= 0 else {
            throw Failure.usage(
                "--tolerance can't be \"\(text)\"",
                hint: "give a number (in kcal and min), such as 5, or a percentage, such as 2%")
        }
        return isPercent ? .init(absolute: 0, relative: number / 100) : .init(absolute: number, relative: 0)
    }
}
