import Console
import Foundation
import Glibc
import MessageBus
import Operations
import PluginKit
import Wire

enum TapCommand: Command {
    static let help = CommandHelp(
        name: "healthbus tap",
        summary: "Print every message that passes on the bus, decoded. Changes nothing.",
        positionals: [.init("topic-prefix", isRequired: false, repeats: true)],
        options: CommandHelp.stackOptions + [
            .init("--count", value: "number", help: "end after so many"),
            .init("--json", help: "one JSON object a line on standard output, nothing else there"),
        ],
        examples: ["healthbus tap figures. daily.", "healthbus tap --json --count 10 heartbeat."])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        // Whoever reads the pipe may leave before the tap does.
        signal(SIGPIPE, SIG_IGN)
        if try !stack.reader().isRunning("hub") {
            StandardStream.error.write(
                "no hub runs on \(stack.place) yet; waiting for one ('healthbus up' starts it)\n")
        }
        let isJSON = arguments.flag("--json")
        let terminal = Terminal(.output)
        let width = terminal.isTerminal ? terminal.width : .max
        if try !stack.names.contains(where: { try stack.reader().isRunning($0) }) {
            StandardStream.error.write(
                "nothing runs on \(stack.place) yet; messages are shown once it does ('healthbus up' starts it)\n")
        }
        try Tap().run(
            address: try stack.address(as: KeyRole.tapName), prefixes: arguments.positionals,
            count: try arguments.integer("--count", in: 1 ... .max),
            print: { message in
                StandardStream.output.write((isJSON ? message.jsonLine : message.line(width: width)) + "\n")
            },
            malformed: { error in StandardStream.error.write("healthbus: not a message: \(error)\n") })
    }
}
