import Foundation
import Inspection
import Logging
import Terminal

enum DestinationsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus destinations", summary: "Show where data is delivered, and how far behind each place is.",
        options: CommandHelp.stackOptions + [.json],
        examples: ["healthbus destinations", "healthbus destinations --json"])

    static func run(_ arguments: Arguments) throws {
        let report = try DestinationReport(try Stack(reading: arguments), now: Date(), rateOver: 1)
        arguments.print(report.value, else: report.text(for: Terminal(.output)))
    }
}
