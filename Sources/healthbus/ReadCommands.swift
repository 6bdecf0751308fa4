import Console
import Foundation
import Glibc
import HealthModel
import MessageBus
import Operations
import PluginKit
import Wire

enum StatusCommand {
    static func run(_ arguments: Arguments) throws {
        let report = try StatusReport(try Stack(arguments), now: Date())
        let text =
            arguments.flag("--json") ? report.value.json(pretty: true) + "\n" : report.text(for: Terminal(.output))
        StandardStream.output.write(text)
    }
}

enum DaysCommand {
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
                isFiltered
                    ? "no such days on \(stack.state.path); without --user, --from and --to all are shown\n"
                    : "no days yet on \(stack.state.path); 'healthbus import FILE' brings some\n")
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

enum TapCommand {
    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        // Whoever reads the pipe may leave before the tap does.
        signal(SIGPIPE, SIG_IGN)
        if try !stack.reader().isRunning("hub") {
            StandardStream.error.write(
                "no hub runs on \(stack.state.path) yet; waiting for one ('healthbus up' starts it)\n")
        }
        let isJSON = arguments.flag("--json")
        let terminal = Terminal(.output)
        let width = terminal.isTerminal ? terminal.width : .max
        if try !stack.names.contains(where: { try stack.reader().isRunning($0) }) {
            StandardStream.error.write(
                "nothing runs on \(stack.state.path) yet; messages are shown once it does ('healthbus up' starts it)\n")
        }
        try Tap().run(
            address: stack.address, prefixes: arguments.positionals,
            count: try arguments.integer("--count", in: 1 ... .max),
            print: { message in
                StandardStream.output.write((isJSON ? message.jsonLine : message.line(width: width)) + "\n")
            },
            malformed: { error in StandardStream.error.write("healthbus: not a message: \(error)\n") })
    }
}
