import Configuration
import HealthModel
import Inspection
import Logging
import Terminal

enum DaysCommand: Command {
    static let help = CommandHelp(
        name: "healthbus days",
        summary:
            "Show the daily summaries. A narrow terminal gets fewer columns; a pipe and --json get all.",
        options: CommandHelp.stackOptions + [
            .init("--from", value: "date", help: "first day, as 2025-03-30"),
            .init("--to", value: "date", help: "last day"),
            .user("whose days (default: me)"), .json,
        ],
        examples: ["healthbus days --from 2025-03-24 --to 2025-03-30", "healthbus days --json"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let report = try DaysReport(
            stack.reader(), consolidator: try stack.instance(.consolidator), user: arguments.value("--user") ?? "me",
            from: try arguments.day("--from"), to: try arguments.day("--to"))
        if arguments.flag("--json") {
            StandardStream.output.write(report.json + "\n")
        } else if report.days.isEmpty {
            let isFiltered = ["--user", "--from", "--to"].contains { arguments.value($0) != nil }
            StandardStream.error.write(
                stack.advice.addressed(
                    isFiltered
                        ? "no such days on \(stack.place); without --user, --from and --to all are shown\n"
                        : "no days yet on \(stack.place); 'healthbus import FILE' brings some\n"))
        } else {
            StandardStream.output.write(report.table(for: Terminal(.output)))
        }
    }
}

extension Arguments {
    /// An option's value as a date; nil when it wasn't given.
    func day(_ option: String) throws -> LocalDay? {
        guard let text = value(option) else { return nil }
        guard let day = LocalDay(text) else {
            throw Failure.usage("\(option) \(text) isn't a date", hint: "write it as 2025-03-30")
        }
        return day
    }
}
