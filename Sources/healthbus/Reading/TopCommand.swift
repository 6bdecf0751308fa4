import Configuration
import Glibc
import HealthModel
import Inspection
import Logging
import Monitoring
import Terminal

enum TopCommand: Command {
    static let help = CommandHelp(
        name: "healthbus top",
        summary:
            "Watch what each process is doing: rates, how far it is behind, turns, memory. Press q to quit.",
        options: CommandHelp.stackOptions + [
            .init("--interval", value: "seconds", help: "time between updates, 0.1 to 3600 (default: 1)"),
            .init("--once", help: "show one table, after one interval, and quit"),
            .init("--json", help: "JSON on standard output: one value with --once, else one object per line"),
        ],
        examples: ["healthbus top", "healthbus top --once --json --interval 5"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(watching: arguments)
        let isJSON = arguments.flag("--json")
        let interval = try arguments.number("--interval", in: 0.1...3600, hint: "give seconds, 0.1 to 3600") ?? 1
        // The program that reads from the pipe may close it first.
        signal(SIGPIPE, SIG_IGN)
        try stack.requireAnyRunning()
        let loop = try TopLoop(stack, interval: interval)
        let terminal = Terminal(.output)
        func text(_ table: TopTable) -> String {
            TopView(table, state: stack.state.path).lines(for: terminal).joined(separator: "\n") + "\n"
        }
        if arguments.flag("--once") {
            let table = loop.once()
            StandardStream.output.write(isJSON ? table.value.json(pretty: true) + "\n" : text(table))
        } else if isJSON || !terminal.isTerminal {
            // For a program or a file: prints whole tables, one after another, without terminal control sequences.
            loop.run { StandardStream.output.write(isJSON ? $0.value.json() + "\n" : text($0) + "\n") }
        } else {
            try loop.run(on: Screen())
        }
    }
}
