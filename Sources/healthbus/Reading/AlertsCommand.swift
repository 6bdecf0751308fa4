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
        arguments.print(
            json: report.json, none: report.isEmpty ? "no alerts\n" : nil, else: report.text(for: Terminal(.output)))
    }
}
