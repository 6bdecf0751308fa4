import Doctor
import Inspection
import Logging
import Terminal

enum DoctorCommand: Command {
    static let help = CommandHelp(
        name: "healthbus doctor",
        summary: "Find out what is wrong with a running stack, and what to do.",
        options: CommandHelp.stackOptions + [.json], examples: ["healthbus doctor", "healthbus doctor --json"])

    static let looksAtTheDisk = true

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(overlooking: arguments)
        let report: @Sendable (String) -> Void = { StandardStream.error.write("healthbus: \($0)\n") }
        let seen = try Examination(stack, report: report)
        let found = Diagnosis.findings(seen).addressed(stack.advice)
        arguments.print(
            json: found.json,
            else: found.text(
                for: Terminal(.output),
                allWell: "all is well: \(stack.names.count) processes are ready, and none is stuck"
                    + Diagnosis.comparison(seen.beats, now: seen.now)))
        // A note requires no action.
        if let worst = found.worst, worst > .note { throw Quiet(.failed) }
    }
}
