import Assistant
import Configuration
import Foundation
import Glibc
import HealthModel
import Inspection
import Logging
import ModelContext
import Monitoring
import Terminal

enum MCPCommand: Command {
    static let help = CommandHelp(
        name: "healthbus mcp",
        summary: "Answer an assistant's questions about one person, read-only: a server of the Model Context Protocol.",
        options: CommandHelp.stackOptions + [
            .user("whom it is about (default: me)"),
            .init("--setup", help: "print the block for an assistant's configuration file, and nothing else"),
        ],
        examples: ["healthbus mcp --setup", "healthbus mcp --user me"])

    static func run(_ arguments: Arguments) throws {
        if arguments.flag("--setup") {
            StandardStream.output.write(try setup(arguments).json(pretty: true) + "\n")
            return
        }
        // The output is for programs, even on a terminal, so every number has plain digits.
        HumanFormat.usePlainDigits()
        if Terminal(StandardStream(descriptor: STDIN_FILENO)).isTerminal {
            StandardStream.error.write(
                "An assistant starts this command, and writes a line of JSON for each request. "
                    + "'healthbus mcp --setup' prints what to enter there.\n")
        }
        let tools = AssistantTools(user: arguments.user) { try Stack(arguments) }
        let session = ContextSession(
            .init(
                name: "healthbus", title: "Health data (healthbus)", version: ProgramRelease.current,
                instructions: AssistantTools.instructions),
            tools: AssistantTools.descriptions)
        try ContextServer(session, tools).run()
    }

    /// The configuration that Claude Desktop and other hosts read: the program and its arguments. All paths are
    /// absolute, since a host may start the program in any folder and without the person's environment.
    private static func setup(_ arguments: Arguments) throws -> Value {
        let stack = try Stack(arguments)
        if !stack.exists {
            StandardStream.error.write(
                "healthbus: there is no stack in \(stack.place) yet: check --state, or make one with 'healthbus up'\n")
        }
        var words = ["mcp", "--state", URL(fileURLWithPath: stack.state.path).standardizedFileURL.path]
        if let file = arguments.configurationFile {
            words += ["--config", URL(fileURLWithPath: file).standardizedFileURL.path]
        }
        if let user = arguments.value("--user") { words += ["--user", user] }
        return [
            "mcpServers": [
                "healthbus": [
                    "command": .string(Bundle.main.executablePath ?? "healthbus"),
                    "args": .array(words.map { .string($0) }),
                ]
            ]
        ]
    }
}
