import Configuration
import Control
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import StageKit
import Terminal

enum DeadLettersCommand: Command {
    static let help = CommandHelp(
        name: "healthbus dead-letters",
        summary: "List, show, send again or drop elements a destination refused for good.",
        positionals: [.init("list|show|retry|drop"), .init("id", isRequired: false, repeats: true)],
        options: CommandHelp.stackOptions + [
            .init("--destination", value: "destination", help: "only this destination's, if the stack has several"),
            .init("--all", help: "all that match the other options"),
            .init("--reason", value: "text", help: "only those with this in their reason"),
            .init(
                "--type", value: "metric",
                help: "only those of this metric, such as steps or daily; a sample type stands for its metric"),
            Confirmation.option, .json,
        ],
        examples: [
            "healthbus dead-letters list", "healthbus dead-letters show 1", "healthbus dead-letters retry --all",
            "healthbus dead-letters drop 1 2",
        ])

    static func run(_ arguments: Arguments) throws {
        let action = try ListAction.of(arguments)
        var selection = try action.selection(arguments)
        let stack = try Stack(reading: arguments)
        if let given = selection.type {
            let metric = stack.configuration.metric(of: given)
            // This would drop elements of other types too.
            if metric != given, action == .drop {
                throw Failure.usage(
                    "drop takes a metric, and \(given) is only a part of one", hint: "--type \(metric) takes all of it")
            }
            selection.type = metric
        }
        // Each destination numbers its dead letters separately.
        let isOne = action != .list || arguments.value("--destination") != nil
        let destination = isOne ? try destination(of: stack, selection, arguments) : nil
        let report = try DeadLetterReport(stack, selection, of: destination)
        switch action {
        case .list:
            try arguments.print(
                report.value,
                else: report.table(for: Terminal(.output), now: Date()) {
                    try DeadLetterReport(stack, RepairSelection(), of: destination).entries.count
                })
        case .show:
            guard let entry = report.entries.first else { return }
            let whole = try report.whole(entry)
            arguments.print(whole, else: stack.advice.addressed(DeadLetterReport.text(whole)))
        case .retry, .drop:
            let count = report.entries.count
            if action == .drop, count > 0 {
                try Confirmation.require(.drop, HumanFormat.count(count, "dead letter"), arguments)
            }
            if let destination {
                let numbers = report.entries.map(\.letter.number)
                try repair(action, selection, numbers, stack, destination, arguments)
            }
        }
    }

    /// The named destination, or else the only one. If there are several: the only one with matching dead letters, or
    /// the first if none has any.
    /// - Throws: `Failure` (usage) when several have some and none is named.
    private static func destination(
        of stack: Stack, _ selection: RepairSelection, _ arguments: Arguments
    ) throws -> StackConfiguration.Instance {
        let name = arguments.value("--destination")
        guard name == nil, stack.destinations.count > 1 else {
            return try stack.destination(name, toBe: "asked for dead letters")
        }
        // Without ids, since not every destination has them.
        let similar = RepairSelection(reason: selection.reason, type: selection.type)
        let having = Set(try DeadLetterReport(stack, similar).entries.map(\.stage))
        return try stack.destination(nil, toBe: "asked for dead letters") {
            having.isEmpty ? $0.name == stack.destinations.first?.name : having.contains($0.name)
        }
    }

    /// - Parameter numbers: the selected letters before the request; those that are accepted are gone afterwards.
    private static func repair(
        _ action: ListAction, _ selection: RepairSelection, _ numbers: [Int64], _ stack: Stack,
        _ destination: StackConfiguration.Instance, _ arguments: Arguments
    ) throws {
        var request = RepairClient.request(action.rawValue)
        request.selection = selection
        let outcome = try stack.repair(destination, request)
        RepairOutput.write(outcome, arguments) { result in
            action == .drop
                ? "Dropped " + RepairOutput.count(result["dropped"], "dead letter") + "."
                : "Sent \(HumanFormat.count(Int(result["sent"].int ?? 0))) again; "
                    + RepairOutput.count(result["deadLetters"], "dead letter") + " left."
        }
        if case .done(let result) = outcome, action == .retry, let left = result["deadLetters"].int, left > 0 {
            let still = try DeadLetterReport(stack, RepairSelection(), of: destination)
            let failure = DeadLetterReport.refusedAgain(
                numbers, left: still.entries.map(\.letter.number), isAll: selection == RepairSelection(),
                by: DeadLetterReport.refuser(destination),
                destination: stack.destinations.count > 1 ? destination.name : nil)
            if let failure { throw failure }
        }
    }
}
