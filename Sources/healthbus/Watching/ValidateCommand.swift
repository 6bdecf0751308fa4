import Inspection
import Logging
import Terminal

enum ValidateCommand: Command {
    static let help = CommandHelp(
        name: "healthbus validate",
        summary: "Look for mistakes in the configuration and around it, without starting anything.",
        options: CommandHelp.stackOptions + [.json],
        examples: ["healthbus validate --config my.json", "healthbus validate --json"])

    static func run(_ arguments: Arguments) throws {
        let validation = Validation(
            state: arguments.value("--state"),
            configurationFile: try arguments.configurationFile
                ?? Stack.lastConfiguration(arguments.value("--state")))
        let found = validation.findings.addressed(arguments.advice)
        StandardStream.output.write(
            arguments.flag("--json")
                ? found.json + "\n"
                : found.text(
                    for: Terminal(.output),
                    allWell: arguments.advice.addressed("nothing is wrong: 'healthbus up' can start it")))
        guard found.worst == .error else { return }
        throw Quiet(validation.isConfigurationRefused ? .usage : .failed)
    }
}

/// Ends the program with this status once everything has been printed.
struct Quiet: Error {
    let code: ExitCode
    init(_ code: ExitCode) { self.code = code }
}
