import Clocks
import Configuration
import Control
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal

enum ReplayCommand: Command {
    static let help = CommandHelp(
        name: "healthbus replay",
        summary: "Have a handler or the consolidator compute days again, or the uploader deliver them again.",
        positionals: [.init("instance")],
        options: CommandHelp.stackOptions + [
            .init("--from", value: "date|sequence", help: "first day, or an observer sequence"),
            .init("--to", value: "date", help: "last day (default: the newest)"),
            .user("only this person's days"), .init("--dry-run", help: CommandHelp.dryRun), .json,
        ],
        examples: [
            "healthbus replay steps --from 2025-03-01", "healthbus replay uploader --from 2025-03-01 --to 2025-03-31",
            "healthbus replay uploader --from 2025-03-01 --dry-run",
        ])

    static func run(_ arguments: Arguments) throws {
        var stack = try Stack(arguments)
        let instance = try stack.named(arguments.positionals[0])
        if !arguments.flag("--dry-run") { stack.acting = instance.name }
        guard let text = arguments.value("--from") else {
            throw Failure.usage("--from is missing", hint: "give a date, as in --from 2025-03-01")
        }
        func today() throws -> LocalDay { try stack.today(of: arguments.user) }
        let start: ReplayPlan.Start
        // A number is always a sequence number, never a year.
        if let number = Int64(text) {
            guard number >= SequenceNumber.beginning.value else {
                throw Failure.usage(
                    "--from \(text) isn't a sequence", hint: "sequences begin at \(SequenceNumber.beginning)")
            }
            start = .sequence(SequenceNumber(number))
        } else {
            start = .day(try DateRange.days(text, "--from", today).first)
        }
        let end = try arguments.value("--to").map { try DateRange.days($0, "--to", today).last }
        if case .day(let from) = start, let end, end < from {
            throw Failure.usage("--to \(end) is before --from \(from)", hint: "swap them")
        }
        let plan = try ReplayPlan(
            stack, instance: instance, from: start, through: end,
            user: arguments.value("--user"), now: WallClock.now)
        if arguments.flag("--dry-run") { return show(plan, try plan.count(), arguments) }
        var request = RepairClient.request("replay")
        plan.fill(&request)
        let outcome = try stack.repair(plan.instance, request)
        RepairOutput.write(outcome, arguments) { result in
            let span = plan.days.map { "\($0.lowerBound) to \($0.upperBound)" } ?? "since \(text)"
            switch plan.instance.manifest.kind {
            case .handler:
                return "Computed \(span) again: " + RepairOutput.count(result["revised"], "day")
                    + " with other figures."
            case .consolidator: return "Took in \(span) again: " + RepairOutput.count(result["rows"], "row") + "."
            default:
                return delivered(result, span)
            }
        }
        guard case .done(let result) = outcome else { return }
        if let failure = result.read(ReplayReport.self)?.failure { throw failure }
        if let refused = result["refused"].int, refused > 0 {
            throw Failure(
                "\(DeadLetterReport.refuser(plan.instance)) refuses \(HumanFormat.count(Int(refused), "element"))",
                hint: "'healthbus dead-letters list' says why")
        }
    }

    private static func delivered(_ result: Value, _ span: String) -> String {
        guard let sent = result["sent"].int else { return "Delivered \(span) again." }
        let refused = result["refused"].int ?? 0
        return "Delivered \(span) again: \(HumanFormat.count(Int(sent - refused), "element"))"
            + (refused > 0 ? ", \(HumanFormat.count(Int(refused))) refused." : ".")
    }

    private static func show(_ plan: ReplayPlan, _ count: ReplayPlan.Count, _ arguments: Arguments) {
        var value: [String: Value] = [
            "instance": .string(plan.instance.name), "days": Value(count.days), "rows": Value(count.rows),
        ]
        if let days = plan.days {
            value["from"] = .string(days.lowerBound.description)
            value["to"] = .string(days.upperBound.description)
        }
        let rows = RepairOutput.count(Value(count.rows), "row")
        let verb =
            switch plan.instance.manifest.kind {
            case .handler: plan.days == nil ? "mark again, by \(rows) of changes," : "compute again, with \(rows),"
            case .consolidator: "take in again, with \(rows),"
            default: "send \(rows) again, of"
            }
        arguments.print(
            .object(value),
            else: "\(plan.instance.name) would \(verb) " + RepairOutput.count(Value(count.days), "day")
                + (plan.days.map { ": \($0.lowerBound) to \($0.upperBound)" } ?? "") + ". Nothing was changed.\n")
    }
}

extension Stack {
    /// - Parameter listed: whether the error lists the instances even if one has a similar name.
    /// - Throws: `Failure` (usage) that lists the instances if the given one isn't among them.
    @discardableResult
    func named(_ name: String, listed: Bool = false) throws -> StackConfiguration.Instance {
        if let instance = configuration.instance(name) { return instance }
        let all = "choose from \(names.joined(separator: ", "))"
        throw Failure.usage("this stack has no '\(name)'", hint: listed ? all : Nearest.hint(for: name, among: names))
    }
}
