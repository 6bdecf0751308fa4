import Clocks
import Control
import DeliveryKit
import HealthModel
import Inspection
import Logging
import Terminal

enum VerifyCommand: Command {
    static let help = CommandHelp(
        name: "healthbus verify",
        summary: "Compare what was delivered with what the destination keeps, by id; repair what differs.",
        options: CommandHelp.stackOptions + [
            .init("--destination", value: "destination", help: "which one, if the stack has several"),
            .user("only this person's (default: everybody's)"),
            .from(), .to(), .last,
            .init("--repair", help: "deliver what is missing, older or changed there, and compare again"), .json,
        ],
        examples: ["healthbus verify", "healthbus verify --from 2025-01-01 --json", "healthbus verify --repair"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let user = arguments.value("--user")
        let range = try arguments.dateRange(stack, user: user ?? "me")
        let scope = Verification.Scope(user: user, from: range.from, to: range.to)
        let began = MonotonicClock.now
        let verification = try Verification(stack, of: arguments.value("--destination"), scope)
        var report: VerifyReport
        do {
            defer { LiveLine.error.end() }
            report = try verification.run(repair: arguments.flag("--repair")) { rows in
                LiveLine.error.restSometimes("Verifying, \(HumanFormat.count(Int(rows))) versions read")
            }
        }
        report.seconds = (MonotonicClock.now - began).seconds
        arguments.print(report.value, else: stack.advice.addressed(report.text(for: Terminal(.output))))
        if !report.isRight { throw Quiet(.failed) }
    }
}
