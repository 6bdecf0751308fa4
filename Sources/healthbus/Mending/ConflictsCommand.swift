import HealthModel
import Inspection
import Logging
import Terminal

enum ConflictsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus conflicts",
        summary: "List samples that came again with the same id but other content, without a higher version.",
        options: CommandHelp.stackOptions + [.json], examples: ["healthbus conflicts", "healthbus conflicts --json"])

    static func run(_ arguments: Arguments) throws {
        let report = try ConflictsReport(try Stack(arguments))
        StandardStream.output.write(
            arguments.flag("--json") ? report.value.json(pretty: true) + "\n" : report.text(for: Terminal(.output)))
    }
}
