import Clocks
import Configuration
import Control
import HealthModel
import Inspection
import Logging
import Terminal

enum VerifyCommand: Command {
    static let help = CommandHelp(
        name: "healthbus verify",
        summary: "Compare what was delivered with what the backend keeps, by id; deliver again what it lacks.",
        options: CommandHelp.stackOptions + [
            .init("--destination", value: "destination", help: "whose backend, if the stack has several destinations"),
            .user("only this person's (default: everybody's)"),
            .from(), .to(), .last,
            .init("--repair", help: "deliver exactly what is missing or older there, and compare again"), .json,
        ],
        examples: ["healthbus verify", "healthbus verify --from 2025-01-01 --json", "healthbus verify --repair"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let user = arguments.value("--user")
        let range = try arguments.dateRange(stack, user: user ?? "me")
        let scope = Verification.Scope(user: user, from: range.from, to: range.to)
        let terminal = Terminal(.error)
        let began = MonotonicClock.now
        var saidAt = MonotonicTime.distantPast
        let tell: @Sendable (String) -> Void = {
            // Replaces the progress line.
            StandardStream.error.write((Terminal(.error).isTerminal ? "\r\u{1B}[K" : "") + "healthbus: \($0)\n")
        }
        let verification = try Verification(
            stack, of: arguments.value("--destination"), scope, now: WallClock.now, tell: tell
        ) { done, total in
            let now = MonotonicClock.now
            guard terminal.isTerminal, now - saidAt > .milliseconds(100) else { return }
            saidAt = now
            StandardStream.error.write("\r" + line(done, total, (now - began).seconds) + "\u{1B}[K")
        }
        var report: VerifyReport
        do {
            defer { if terminal.isTerminal, saidAt > .distantPast { StandardStream.error.write("\r\u{1B}[K") } }
            report = arguments.flag("--repair") ? try verification.repair() : try verification.run()
        }
        report.seconds = (MonotonicClock.now - began).seconds
        StandardStream.output.write(
            arguments.flag("--json")
                ? report.value.json(pretty: true) + "\n" : stack.advice.addressed(report.text(for: Terminal(.output))))
        if !report.isRight { throw Quiet(.failed) }
    }

    /// "Verifying 40 %, 812 345 of 2 000 000 versions, 210 000 per second"
    private static func line(_ done: Int, _ total: Int, _ seconds: Double) -> String {
        let rate = seconds > 0.2 ? ", \(HumanFormat.count(Int(Double(done) / seconds))) per second" : ""
        return "Verifying \(done * 100 / max(1, total)) %, \(HumanFormat.count(done)) of "
            + "\(HumanFormat.count(total)) versions\(rate)"
    }
}
