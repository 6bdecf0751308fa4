import Foundation
import HealthModel
import Inspection
import Logging
import Monitoring
import Terminal

enum StatusCommand: Command {
    static let help = CommandHelp(
        name: "healthbus status", summary: "Show the processes, how fresh each metric is, and what is waiting.",
        options: CommandHelp.stackOptions + [.json], examples: ["healthbus status", "healthbus status --json"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(reading: arguments)
        let report = try StatusReport(stack, now: Date())
        arguments.print(report.value, else: stack.advice.addressed(report.text(for: Terminal(.output))))
    }
}
