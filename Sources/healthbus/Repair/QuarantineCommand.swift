import Configuration
import Control
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal

enum QuarantineCommand: Command {
    static let help = CommandHelp(
        name: "healthbus quarantine",
        summary: "List, show, retry or drop input that can't be true or wasn't understood.",
        positionals: [.init("list|show|retry|drop"), .init("id", isRequired: false, repeats: true)],
        options: CommandHelp.stackOptions + [
            .init("--all", help: "all that match the other options"),
            .init("--reason", value: "text", help: "only those with this in their reason"),
            .init("--type", value: "type", help: "only those of this type, such as StepCount"), Confirmation.option,
            .json,
        ],
        examples: [
            "healthbus quarantine list", "healthbus quarantine show 3", "healthbus quarantine retry --all",
            "healthbus quarantine drop --type StepCount",
        ])

    static func run(_ arguments: Arguments) throws {
        let action = try ListAction.of(arguments)
        let selection = try action.selection(arguments)
        var stack = try Stack(reading: arguments)
        if action == .retry || action == .drop { stack.acting = stack.observer }
        let report = try QuarantineReport(stack, selection, isWhole: action == .show)
        switch action {
        case .list:
            try arguments.print(
                report.value,
                else: report.table(for: Terminal(.output)) {
                    try QuarantineReport(stack, RepairSelection()).entries.count
                })
        case .show: arguments.print(report.value.array?.first ?? .null, else: report.text)
        case .retry, .drop:
            let count = report.entries.count
            if action == .drop, count > 0 {
                try Confirmation.require(
                    .drop, HumanFormat.count(count, "quarantined input"),
                    detail: " for good, so no import brings \(count == 1 ? "it" : "them") back", arguments)
            }
            var request = RepairClient.request(action.rawValue)
            request.selection = selection
            let outcome = try stack.repair(try stack.instance(.observer), request)
            RepairOutput.write(outcome, arguments) { result in
                action == .drop
                    ? "Dropped \(RepairOutput.count(result["dropped"], "quarantined input")), for good."
                    : "Checked \(HumanFormat.count(Int(result["tried"].int ?? 0))) again: "
                        + RepairOutput.count(result["passed"], "is a sample", "are samples") + " now, "
                        + RepairOutput.count(result["still"], "stays", "stay") + " quarantined."
            }
        }
    }
}
