import Configuration
import Control
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import StageKit
import Terminal

enum ImportsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus imports",
        summary:
            "List imports and devices that push, end an import, or take back what an import or a device brought.",
        positionals: [.init("list|cancel|undo", isRequired: false), .init("id", isRequired: false)],
        options: CommandHelp.stackOptions + [
            .init("--device", value: "name", help: "undo: everything this device has pushed, instead of an import"),
            .user("list: only this person's; with --device: the person whose samples they are (default: me)"),
            .init("--dry-run", help: CommandHelp.dryRun), Confirmation.option, .json,
        ],
        examples: [
            "healthbus imports list", "healthbus imports cancel 8c1f", "healthbus imports undo 8c1f --dry-run",
            "healthbus imports undo --device phone --user anna",
        ])

    static func run(_ arguments: Arguments) throws {
        let words = Array(arguments.positionals.dropFirst())
        switch arguments.positionals.first ?? "list" {
        case "list":
            guard words.isEmpty, arguments.value("--device") == nil, !arguments.flag("--dry-run") else {
                throw Failure.usage("'list' takes no id and none of undo's options", hint: "'healthbus imports list'")
            }
            let stack = try Stack(reading: arguments)
            var report = try ImportsReport(stack)
            report.statistics = try HeldStatistics(stack)
            if let user = arguments.value("--user") { report = report.only(user) }
            arguments.print(report.value, else: stack.advice.addressed(report.table(for: Terminal(.output))))
        case "cancel": try cancel(words.first, arguments)
        case "undo": try undo(words.first, arguments)
        case let other:
            throw Failure.usage("'imports' has no subcommand '\(other)'", hint: "choose from list, cancel, undo")
        }
    }

    private static func cancel(_ id: String?, _ arguments: Arguments) throws {
        guard let id else {
            throw Failure.usage("no import is named", hint: "'healthbus imports list' shows them")
        }
        guard arguments.value("--device") == nil, !arguments.flag("--dry-run"), arguments.value("--user") == nil else {
            throw Failure.usage("'cancel' takes only an import's id", hint: "the other options are for 'undo'")
        }
        let stack = try Stack(arguments)
        let row = try ImportsReport(stack).row(id)
        var request = RepairClient.request("cancel")
        request.import = row.id
        let name = (row.path as NSString).lastPathComponent
        RepairOutput.write(try stack.repair(try stack.instance(.observer), request), arguments) { _ in
            "Cancelled \(name); what it had added by then stays, and 'healthbus imports undo \(id)' takes it back."
        }
    }

    private static func undo(_ id: String?, _ arguments: Arguments) throws {
        let device = arguments.value("--device")
        guard (id == nil) != (device == nil) else {
            throw Failure.usage(
                id == nil ? "no import or device is named" : "both an id and --device are given",
                hint: "give an import's id, or --device with a name")
        }
        if device == nil, arguments.value("--user") != nil {
            throw Failure.usage("--user goes with --device", hint: "an import is one user's anyway: leave it out")
        }
        let stack = try Stack(arguments)
        let observer = try stack.instance(.observer)
        let imported = try id.map { try ImportsReport(stack).row($0).id }
        let client = RepairClient(stack)
        defer { client.close() }
        func request(isTrial: Bool) -> RepairRequest {
            var request = RepairClient.request("undo")
            (request.import, request.device, request.user) = (imported, device, arguments.value("--user"))
            if isTrial { request.dryRun = true }
            return request
        }
        if arguments.flag("--dry-run") || !arguments.flag("--yes") {
            let trial = try client.repair(observer, request(isTrial: true))
            if arguments.flag("--dry-run") { return RepairOutput.write(trial, arguments, text) }
            guard case .done(let value) = trial, let reported = value.read(UndoReport.self) else {
                return RepairOutput.write(trial, arguments, text)
            }
            StandardStream.error.write(text(value) + "\n")
            let count = Int(reported.taken.values.reduce(0, +))
            try Confirmation.require(.delete, HumanFormat.count(count, "sample"), arguments)
        }
        RepairOutput.write(try client.repair(observer, request(isTrial: false)), arguments, text)
    }

    /// Describes what is deleted and what stays, by type.
    private static func text(_ value: Value) -> String {
        guard let reported = value.read(UndoReport.self) else { return "Taken back." }
        func sum(_ counts: [String: Int64]) -> String { HumanFormat.count(Int(counts.values.reduce(0, +)), "sample") }
        let isTrial = reported.dryRun == true
        var text =
            isTrial
            ? "Would delete \(sum(reported.taken)), and keep \(sum(reported.kept)) that also came another way."
            : "Deleted \(sum(reported.taken)); kept \(sum(reported.kept)) that also came another way."
        for type in Set(reported.taken.keys).union(reported.kept.keys).sorted() {
            text +=
                "\n  \(type): \(HumanFormat.count(Int(reported.taken[type] ?? 0))) deleted, "
                + "\(HumanFormat.count(Int(reported.kept[type] ?? 0))) kept"
        }
        return text
    }
}
