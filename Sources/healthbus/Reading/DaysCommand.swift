import Client
import Configuration
import Figures
import Inspection
import Logging
import Terminal

enum DaysCommand: Command {
    static let help = CommandHelp(
        name: "healthbus days",
        summary:
            "Show the daily summaries, or their hours: the last 30 days with data, unless you name others. "
            + "A narrow terminal gets fewer columns.",
        options: CommandHelp.stackOptions + [
            .from(), .to(), .last, .init("--all", help: "all days, those without data too"),
            .init("--hourly", help: "one row per hour of the local clock"),
            .init("--columns", value: "columns", help: "only these figures, such as steps,heart_rate_average"),
            .user("whose days (default: me)"), .csv, .json, .ndjson,
        ],
        examples: [
            "healthbus days --last week", "healthbus days --from 2025-03-24 --to 2025-03-30",
            "healthbus days --last week --hourly --columns steps", "healthbus days --all --csv > days.csv",
            "healthbus days --json",
        ])

    /// How many days are shown by default.
    private static let usual = 30

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(reading: arguments)
        let range = try arguments.dateRange(stack, user: arguments.user)
        let isAll = arguments.flag("--all")
        guard !isAll || range.isEverything else {
            throw Failure.usage(
                "--all can't be combined with other dates",
                hint: "leave out --all, or leave out --from, --to and --last")
        }
        let format = try arguments.rowFormat()
        let hourly = arguments.flag("--hourly")
        let isForEyes = if case .table = format { true } else { false }
        let reader = stack.reader()
        let report = try DaysReport(
            reader, consolidator: try stack.instance(.consolidator), user: arguments.user, range: range,
            last: range.isEverything && !isAll ? usual : nil)
        let named = arguments.value("--columns").map { $0.split(separator: ",").map(String.init) }
        if isForEyes, report.days.isEmpty { return try reportNone(arguments, stack, reader, range) }
        if hourly || named != nil || format == .csv || format == .lines {
            try report.write(named, format, hourly: hourly, onlyFilled: isForEyes)
        } else if arguments.flag("--json") {
            StandardStream.output.write(report.json + "\n")
        } else {
            StandardStream.output.write(report.table(for: Terminal(.output)))
        }
        if report.total > report.days.count {
            StandardStream.error.write(
                "the last \(report.days.count) of \(report.total) days; --all shows all\n")
        }
    }

    private static func reportNone(
        _ arguments: Arguments, _ stack: Stack, _ reader: StackReader, _ range: DateRange
    ) throws {
        let given = ["--user", "--from", "--to", "--last"].filter(arguments.flag)
        let place = "in \(stack.place)"
        // Without --user, other days of another person are shown.
        let whose = given.contains("--user") && arguments.user != "me" ? "the newest days of 'me'" : "the newest days"
        let advice = try NothingYet.advice(stack, reader, user: arguments.user, isDays: true)
        StandardStream.error.write(
            stack.advice.addressed(
                given.isEmpty
                    ? "no days yet \(place); \(advice)\n"
                    : "no days \(range.words)\(place); without \(given.joined(separator: " and ")) \(whose) that have data are shown\n"
            ))
    }
}
