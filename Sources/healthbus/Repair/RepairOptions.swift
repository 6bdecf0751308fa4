import Control
import HealthModel
import Logging
import Protocol
import StageKit
import Terminal

extension CommandHelp {
    static let dryRun = "say what would be done, and change nothing"
}

/// What to do with the entries of a list. They are selected by id or by a shared property.
enum ListAction: String, CaseIterable {
    case list, show, retry, drop

    static func of(_ arguments: Arguments) throws -> ListAction {
        let word = arguments.positionals.first ?? ""
        if let action = ListAction(rawValue: word) { return action }
        throw Failure.usage(
            "'\(arguments.command.word)' has no subcommand '\(word)'",
            hint: "choose from \(allCases.map(\.rawValue).joined(separator: ", "))")
    }

    /// - Throws: `Failure` (usage) when something isn't an id, or when the selection is ambiguous, missing or too long.
    func selection(_ arguments: Arguments) throws -> RepairSelection {
        let numbers = try arguments.positionals.dropFirst().map { word in
            guard let number = Int64(word), number > 0 else {
                throw Failure.usage("\"\(word)\" isn't an id", hint: "'\(arguments.command.name) list' shows them")
            }
            return number
        }
        var selection = RepairSelection(
            numbers: numbers.isEmpty ? nil : numbers, reason: arguments.value("--reason"),
            type: arguments.value("--type"))
        let isNarrow = selection.reason != nil || selection.type != nil
        if arguments.flag("--all"), !numbers.isEmpty {
            throw Failure.usage("--all and ids can't be combined", hint: "give only one")
        }
        if self == .show {
            guard numbers.count == 1 else { throw Failure.usage("show takes one id", hint: "'list' shows them") }
        } else if self != .list, numbers.isEmpty, !isNarrow, !arguments.flag("--all") {
            throw Failure.usage("no entries to \(rawValue) are named", hint: "give ids, --reason, --type, or --all")
        }
        if numbers.count > 1000 { throw Failure.usage("more than 1000 ids", hint: "use --reason, --type or --all") }
        if !isNarrow, arguments.flag("--all") { selection.numbers = nil }
        return selection
    }
}

/// The result of a request, in words or as JSON.
enum RepairOutput {
    static func write(_ outcome: RepairClient.Outcome, _ arguments: Arguments, _ text: (Value) -> String) {
        let value: Value
        let line: String
        switch outcome {
        case .done(let result): (value, line) = (result, text(result))
        case .atNextStart:
            value = ["atNextStart": true]
            line = "Noted: it will be done at the next start, 'healthbus up'."
        }
        arguments.print(value, else: arguments.advice.addressed(line) + "\n")
    }

    static func count(_ number: Value, _ one: String, _ many: String? = nil) -> String {
        HumanFormat.count(Int(number.int ?? 0), one, many)
    }
}
