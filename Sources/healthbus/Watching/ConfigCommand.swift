import Configuration
import Inspection
import Logging
import Terminal

enum ConfigCommand: Command {
    static let help = CommandHelp(
        name: "healthbus config",
        summary: "Show which settings apply, and where each comes from: the default, a file, the environment.",
        positionals: [.init("show", words: ["show"]), .init("instance", isRequired: false)],
        options: CommandHelp.stackOptions + [.init("--changed", help: "only what differs from the default"), .json],
        examples: ["healthbus config show", "healthbus config show uploader", "healthbus config show --changed"])

    static func run(_ arguments: Arguments) throws {
        let word = arguments.positionals[0]
        guard word == "show" else {
            throw Failure.usage("'config' has no subcommand '\(word)'", hint: "write 'healthbus config show'")
        }
        let stack = try Stack(arguments)
        let name = arguments.positionals.dropFirst().first
        if let name { try stack.named(name) }
        let report = try ConfigurationReport(
            stack, given: try given(arguments), instance: name, changed: arguments.flag("--changed"))
        arguments.print(json: report.json, else: report.text(for: Terminal(.output)))
    }

    /// Where the state folder and the configuration file were specified.
    private static func given(
        _ arguments: Arguments
    ) throws -> (state: ConfigurationOrigins.Origin, config: ConfigurationOrigins.Origin) {
        let state: ConfigurationOrigins.Origin =
            arguments.value("--state") != nil
            ? .option("--state")
            : StateFolder.variable.map { .variable($0) } ?? .standard
        if arguments.value("--config") != nil { return (state, .option("--config")) }
        if StackConfiguration.file(given: nil) != nil { return (state, .variable("HEALTHBUS_CONFIG")) }
        let folder = arguments.value("--state").map { StateFolder(path: $0) } ?? .standard()
        let layer = StackLayer(folder)
        return (state, try layer.configurationFile() == nil ? .standard : .file(layer.file, line: nil))
    }
}
