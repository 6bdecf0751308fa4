import Foundation
import Inspection
import Logging
import Monitoring
import Terminal

enum AlertsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus alerts", summary: "Show what a person should know now, and what to do.",
        options: CommandHelp.stackOptions + [.json], examples: ["healthbus alerts", "healthbus alerts --json"])

    static func run(_ arguments: Arguments) throws {
        let report = try AlertsReport(try Stack(reading: arguments), now: Date())
        if arguments.flag("--json") {
            StandardStream.output.write(report.json + "\n")
        } else if report.isEmpty {
            StandardStream.error.write("no alerts\n")
        } else {
            StandardStream.output.write(report.text(for: Terminal(.output)))
        }
    }
}
