import Configuration
import Control
import Inspection
import Logging
import Protocol
import StageKit
import Terminal

enum ConflictsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus conflicts",
        summary:
            "List samples and delivered elements that came again with other content but no higher version; say which content counts.",
        positionals: [.init("list|resolve", isRequired: false), .init("id", isRequired: false)],
        options: CommandHelp.stackOptions + [
            .init(
                "--keep", value: "stored|other",
                help: "resolve: the content that counts, as in the list's columns Kept and Other"),
            .json,
        ],
        examples: [
            "healthbus conflicts list", "healthbus conflicts --json", "healthbus conflicts resolve 3 --keep other",
        ])

    private enum Action: String, CaseIterable { case list, resolve }
    private enum Keep: String, CaseIterable { case stored, other }

    static func run(_ arguments: Arguments) throws {
        let words = arguments.positionals
        switch try arguments.action(usual: Action.list) {
        case .list:
            guard words.count <= 1 else { throw Failure.usage("list takes no id", hint: "leave '\(words[1])' out") }
            try arguments.refuse("--keep", isOnlyFor: "resolve")
            try list(arguments)
        case .resolve: try resolve(Array(words.dropFirst()), arguments)
        }
    }

    private static func list(_ arguments: Arguments) throws {
        let report = try ConflictsReport(try Stack(reading: arguments))
        arguments.print(report.value, else: report.text(for: Terminal(.output)))
    }

    private static func resolve(_ words: [String], _ arguments: Arguments) throws {
        guard words.count == 1, let number = Int64(words[0]), number > 0 else {
            throw Failure.usage("resolve takes one id", hint: "'healthbus conflicts list' shows them")
        }
        guard let keep = try arguments.choice("--keep", as: Keep.self) else {
            throw Failure.usage(
                "--keep is missing: it says which content to keep", hint: "give --keep stored or --keep other")
        }
        let stack = try Stack(arguments)
        var request = RepairClient.request("settle")
        (request.numbers, request.keep) = ([number], keep.rawValue)
        RepairOutput.write(try stack.repair(try stack.instance(.observer), request), arguments) { _ in
            keep == .other
                ? "Conflict \(number) is resolved: the sample has the other content now."
                : "Conflict \(number) is resolved: the sample stays as it is."
        }
    }
}
