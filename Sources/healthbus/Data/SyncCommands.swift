import Configuration
import Control
import Doctor
import Foundation
import HealthModel
import Inspection
import Logging
import Monitoring
import Protocol
import Terminal

enum TasksCommand: Command {
    static let help = CommandHelp(
        name: "healthbus tasks",
        summary: "List the scheduled tasks; launch, expire or cancel one, as a debugger on a phone would.",
        positionals: [
            .init("list|launch|expire|cancel", isRequired: false), .init("task", isRequired: false),
        ],
        options: CommandHelp.stackOptions + [.json],
        examples: ["healthbus tasks list", "healthbus tasks launch healthkit-sync"])

    static let actions = ["list", "launch", "expire", "cancel"]

    static func run(_ arguments: Arguments) throws {
        let action = arguments.positionals.first ?? "list"
        guard actions.contains(action) else {
            throw Failure.usage(
                "'\(action)' isn't an action for tasks", hint: "choose from \(actions.joined(separator: ", "))")
        }
        let stack = try Stack(arguments)
        let client = TaskClient(stack)
        let rows: [TaskClient.Row]
        if action == "list" {
            guard arguments.positionals.count == 1 || arguments.positionals.isEmpty else {
                throw Failure.usage("'tasks list' takes no task", hint: "leave '\(arguments.positionals[1])' out")
            }
            rows = try client.rows()
        } else {
            guard arguments.positionals.count == 2 else {
                throw Failure.usage(
                    "'tasks \(action)' takes one task", hint: "'healthbus tasks list' shows their identifiers")
            }
            guard let action = TaskCommand.Action(rawValue: action) else { return }
            rows = [try client.run(action, arguments.positionals[1])]
        }
        let list = rows.map { row in
            Value.object((row.value.object ?? [:]).merging(["instance": .string(row.instance)]) { $1 })
        }
        arguments.print(
            .array(list), else: stack.advice.addressed(TaskClient.table(rows, for: Terminal(.output), now: Date())))
    }
}

enum SyncCommand: Command {
    static let help = CommandHelp(
        name: "healthbus sync",
        summary: "Sync now: release what is waiting, then wait until it is delivered or it is clear why it isn't.",
        positionals: [.init("metric", isRequired: false)],
        options: CommandHelp.stackOptions + [
            .init(
                "--history", value: "days|all",
                help: "compute and deliver this many past days again, the newest week first"),
            .init("--or-fail", help: "with --history: fail if that can't begin at once, instead of waiting"),
            .json,
        ],
        examples: ["healthbus sync", "healthbus sync steps --json", "healthbus sync --history 90"])

    static let looksAtTheDisk = true

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let client = try SyncClient(stack) { StandardStream.error.write("healthbus: \(stack.advice.addressed($0))\n") }
        defer { client.close() }
        // Nobody can commit anything then, so there is nothing to wait for.
        if !stack.configuration.bus.isRemote,
            let notice = DiskSpace.notice(about: stack.state.path, free: DiskSpace.free(at: stack.state.path))
        {
            throw notice
        }
        if let span = arguments.value("--history") {
            guard arguments.positionals.isEmpty else {
                throw Failure.usage("--history syncs all metrics", hint: "leave '\(arguments.positionals[0])' out")
            }
            return try history(span, client, arguments)
        }
        guard !arguments.flag("--or-fail") else {
            throw Failure.usage("--or-fail needs --history", hint: "leave it out")
        }
        let outcome = try client.sync(metric: arguments.positionals.first)
        arguments.print(outcome.value, else: stack.advice.addressed(outcome.text(for: Terminal(.output))))
        if !outcome.isDelivered {
            // The text has just said why.
            let why = arguments.flag("--json") ? ": \(outcome.blocked.joined(separator: "; "))" : ""
            throw Failure("not everything is delivered\(why)", hint: outcome.hint)
        }
    }

    private static func history(_ span: String, _ client: SyncClient, _ arguments: Arguments) throws {
        let value: Value
        if span == "all" {
            value = "all"
        } else if let days = Int64(span), (1...36_500).contains(days) {
            value = .integer(days)
        } else {
            throw Failure.usage("--history \(span) isn't a number of days", hint: "write 90, or all")
        }
        let terminal = Terminal(.error)
        let result = try client.history(value, orFail: arguments.flag("--or-fail")) { done, total, seconds in
            guard terminal.isTerminal, total > 0 else { return }
            let line = ProgressBar.line(
                "History", done, of: total, after: .seconds(seconds), amount: "\(done) of \(total) weeks",
                rate: { "\($0.rounded(decimals: 1)) weeks" })
            StandardStream.error.write("\r" + line + "\u{1B}[K")
        }
        if terminal.isTerminal { StandardStream.error.write("\n") }
        arguments.print(
            Value(result),
            else: "History delivered: \(result.from ?? "") to \(result.through ?? ""), \(result.chunks ?? 0) weeks in "
                + HumanFormat.duration(.seconds(result.seconds)) + client.trust.clause + ".\n")
    }
}

enum HistoryCommand: Command {
    static let help = CommandHelp(
        name: "healthbus history",
        summary: "Show how the last syncs went, and how long samples take to reach a destination.",
        options: CommandHelp.stackOptions + [.json], examples: ["healthbus history", "healthbus history --json"])

    static func run(_ arguments: Arguments) throws {
        let report = try HistoryReport(try Stack(reading: arguments), now: Date())
        arguments.print(report.value, else: report.text(for: Terminal(.output)))
    }
}
