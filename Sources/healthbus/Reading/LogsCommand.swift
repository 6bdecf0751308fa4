import Clocks
import Configuration
import Glibc
import Inspection
import Logging
import Monitoring
import Terminal

enum LogsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus logs",
        summary: "Show the logs of the processes that 'up' started, merged by time. They hold no health values.",
        positionals: [.init("instance", isRequired: false, repeats: true)],
        options: CommandHelp.stackOptions + [
            .init("--follow", short: "-f", help: "continue with what is logged from now on"),
            .init("--tail", short: "-n", value: "number", help: "only the last lines, this many"),
            .init("--since", value: "when", help: "only since then: 10m, 2h, 3d, 2025-03-30, 2025-03-30T14:00:00Z"),
            .init("--level", value: "level", help: "only from this level up: debug, info, notice, warning, error"),
            .init(
                "--category", value: "category", repeats: true,
                help: "only events of this category, such as observer, task, sync or delivery"),
            .init("--json", help: "one JSON object per line on standard output, and nothing else"),
        ],
        examples: ["healthbus logs --level notice --since 1h", "healthbus logs -n 20 observer uploader --follow"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(reading: arguments)
        // The program that reads from the pipe may close it first.
        signal(SIGPIPE, SIG_IGN)
        let report = try LogReport(stack, names: arguments.positionals)
        let since = try arguments.value("--since").map { try Since($0, option: "--since", now: WallClock.now).instant }
        let filter = LogReport.Filter(
            since: since, minimum: try arguments.choice("--level", as: Log.Level.self) ?? .debug,
            categories: try LogReport.Filter.categories(arguments.values("--category")))
        let last = try arguments.integer("--tail", in: 0 ... .max)
        if report.isEmpty {
            StandardStream.error.write(
                stack.place == stack.state.path
                    ? stack.advice.addressed(
                        "nothing has been logged in \(stack.state.path); 'healthbus up' starts processes that log there\n"
                    )
                    : "the logs of \(stack.place) are with its processes: ask whatever runs them ('docker-compose logs')\n"
            )
        }
        let isJSON = arguments.flag("--json")
        try report.run(filter, last: last, follows: arguments.flag("--follow")) { line in
            StandardStream.output.write((isJSON ? line.json : line.line) + "\n")
        }
    }
}
