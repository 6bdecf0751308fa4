import Doctor
import Inspection
import Logging
import Terminal

enum ValidateCommand: Command {
    static let help = CommandHelp(
        name: "healthbus validate",
        summary: "Look for mistakes in the configuration and around it, without starting anything.",
        options: CommandHelp.stackOptions + [.json],
        exitCodes: [
            (.done, "'healthbus up' can start it; there may be warnings, such as a backend that doesn't answer yet"),
            (.failed, "'healthbus up' would start it, but something in it wouldn't work"),
            (.usage, "'healthbus up' would refuse to start it"),
        ],
        examples: ["healthbus validate --config my.json", "healthbus validate --json"])

    static let looksAtTheDisk = true

    static func run(_ arguments: Arguments) throws {
        let validation = Validation(
            state: arguments.value("--state"),
            configurationFile: try arguments.configurationFile
                ?? Stack.lastConfiguration(arguments.value("--state")))
        let found = validation.findings.addressed(arguments.advice)
        arguments.print(
            json: found.json,
            else: found.text(
                for: Terminal(.output),
                allWell: arguments.advice.addressed("nothing is wrong: 'healthbus up' can start it")))
        if validation.exitCode != .done { throw Quiet(validation.exitCode) }
    }
}

/// Ends the program with this status once everything has been printed.
struct Quiet: Error {
    let code: ExitCode
    init(_ code: ExitCode) { self.code = code }
}
