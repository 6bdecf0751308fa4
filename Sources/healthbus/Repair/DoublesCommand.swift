import Configuration
import Control
import HealthModel
import Inspection
import Logging
import Protocol
import StageKit
import Terminal

enum DoublesCommand: Command {
    static let help = CommandHelp(
        name: "healthbus doubles",
        summary:
            "List samples that an earlier release stored twice (condensed, or under two names of their source), count them once, or take that back.",
        positionals: [.init("list|repair|undo", isRequired: false)],
        options: CommandHelp.stackOptions + [
            .user("only this person's samples (default: everybody's)"),
            .init("--dry-run", help: "repair: " + CommandHelp.dryRun), .json,
        ],
        examples: [
            "healthbus doubles list", "healthbus doubles repair --user anna", "healthbus doubles undo",
        ])

    static func run(_ arguments: Arguments) throws {
        let action: DoublesReport.Action = try arguments.action(usual: .list)
        if action != .repair { try arguments.refuse("--dry-run", isOnlyFor: "repair") }
        let stack = try Stack(reading: arguments)
        var request = RepairClient.request("doubles")
        request.user = arguments.value("--user")
        if action == .list || arguments.flag("--dry-run") { request.dryRun = true }
        if action == .undo { request.revert = true }
        let outcome = try named(try watched(stack, request), stack)
        RepairOutput.write(outcome, arguments) { $0.read(DoublesReport.self)?.text(action) ?? "Done." }
    }

    /// The outcome with the names of sources: an outcome by itself has none, because everybody can read it.
    private static func named(_ outcome: RepairClient.Outcome, _ stack: Stack) throws -> RepairClient.Outcome {
        guard case .done(let value) = outcome, let reported = value.read(DoublesReport.self),
            let found = try ImportsReport(stack).doubles, found.id == reported.id
        else { return outcome }
        return .done(Value(found))
    }

    private static func watched(_ stack: Stack, _ request: RepairRequest) throws -> RepairClient.Outcome {
        defer { LiveLine.error.end() }
        return try stack.repair(try stack.instance(.observer), request) { left in
            LiveLine.error.rest("samples stored twice: \(HumanFormat.count(Int(left), "row")) to go")
        }
    }
}
