import HealthModel
import Inspection
import Logging
import Terminal

enum ExplainCommand: Command {
    static let help = CommandHelp(
        name: "healthbus explain",
        summary: "Show why a day's figure is what it is: which source counted when, and what it added.",
        positionals: [.init("metric"), .init("date")],
        options: CommandHelp.stackOptions + [
            .init("--hour", help: "by hour"),
            .init("--all", help: "every interval and sample by itself, however many"),
            .user("whose day (default: me)"), .json,
        ],
        examples: [
            "healthbus explain steps 2025-03-30", "healthbus explain sleep 2025-03-30 --json",
            "healthbus explain workouts 2025-03-30", "healthbus explain DistanceCycling 2025-03-30 --hour",
        ])

    static func run(_ arguments: Arguments) throws {
        let date = arguments.positionals[1]
        guard let day = LocalDay(date) else {
            throw Failure.usage("'\(date)' isn't a date", hint: "write it as 2025-03-30")
        }
        let report = try ExplainReport(
            try Stack(arguments), metric: arguments.positionals[0], day: day, user: arguments.value("--user") ?? "me")
        let shown = ExplainOptions(byHour: arguments.flag("--hour"), all: arguments.flag("--all"))
        StandardStream.output.write(
            arguments.flag("--json") ? report.json + "\n" : try report.text(shown, for: Terminal(.output)))
    }
}

enum CheckCommand: Command {
    static let help = CommandHelp(
        name: "healthbus check",
        summary:
            "Hold the figures against Apple's rings, and show what is missing, came late or was written several times.",
        options: CommandHelp.stackOptions + [
            .init("--from", value: "date", help: "first day, as 2025-03-30"),
            .init("--to", value: "date", help: "last day"),
            .init(
                "--tolerance", value: "number",
                help: "what figures may differ by, in kcal and min, or as 2% (default: 1 or 1%, the larger)"
            ),
            .user("whose days (default: me)"), .json,
        ],
        examples: ["healthbus check", "healthbus check --from 2025-01-01 --tolerance 5%"])

    static func run(_ arguments: Arguments) throws {
        let options = CheckReport.Options(
            user: arguments.value("--user") ?? "me", from: try arguments.day("--from"), to: try arguments.day("--to"),
            tolerance: try tolerance(arguments.value("--tolerance")))
        if let from = options.from, let to = options.to, from > to {
            throw Failure.usage("--from \(from) is after --to \(to)", hint: "swap them")
        }
        let report = try CheckReport(try Stack(arguments), options)
        StandardStream.output.write(
            arguments.flag("--json") ? report.json + "\n" : report.text(for: Terminal(.output)))
    }

    private static func tolerance(_ text: String?) throws -> RingComparison.Tolerance {
        guard let text else { return .standard }
        let isPercent = text.hasSuffix("%")
        guard let number = Double(isPercent ? String(text.dropLast()) : text), number.isFinite, number >= 0 else {
            throw Failure.usage(
                "--tolerance is \"\(text)\"", hint: "give a number of kcal and min, as 5, or a part, as 2%")
        }
        return isPercent ? .init(absolute: 0, relative: number / 100) : .init(absolute: number, relative: 0)
    }
}
