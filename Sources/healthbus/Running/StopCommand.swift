import Client
import Configuration
import Control
import Foundation
import Inspection
import Logging
import Terminal

enum StopCommand: Command {
    static let help = CommandHelp(
        name: "healthbus stop",
        summary: "Stop the stack, or one process, which then stays down until 'start'; nothing is lost.",
        positionals: [.init("instance", isRequired: false)],
        options: CommandHelp.stackOptions, examples: ["healthbus stop", "healthbus stop steps"])

    /// Each of the two groups of processes has ten seconds to drain.
    private static let patience = 30.0

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(watching: arguments)
        if let name = arguments.positionals.first {
            let runs = try ProcessClient(stack).set(name, runs: false)
            return say(
                stack,
                "'\(name)' is stopped" + (runs ? "" : ": the next start leaves it down")
                    + "; 'healthbus start \(name)' starts it")
        }
        try stack.requireState()
        guard stack.isUp() else {
            let reader = stack.reader()
            let others = try stack.names.filter { try reader.isRunning($0) }
            guard others.isEmpty else {
                throw Failure(
                    "no 'healthbus up' is running in \(stack.place), but \(others.joined(separator: ", ")) by hand",
                    hint: "end each where it was started")
            }
            return say(stack, "no stack is running in \(stack.place)")
        }
        guard try InstanceLock.end(folder: stack.supervisorFolder, within: patience) else {
            throw Failure(
                "the stack in \(stack.place) is still stopping",
                hint: "'healthbus status' shows what still runs; 'healthbus stop' again ends it at once")
        }
        say(stack, "stopped the stack in \(stack.place); 'healthbus start' starts it")
    }

    private static func say(_ stack: Stack, _ text: String) {
        StandardStream.output.write(stack.advice.addressed(text) + "\n")
    }
}

enum StartCommand: Command {
    static let help = CommandHelp(
        name: "healthbus start",
        summary:
            "Start the stack in the background as the last 'up' did, or one process that was stopped.",
        positionals: [.init("instance", isRequired: false)],
        options: CommandHelp.stackOptions, examples: ["healthbus start", "healthbus start steps"],
        kin: .init(UpCommand.help))

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        guard let name = arguments.positionals.first else {
            try stack.requireState()
            var words = ["up", "--state", stack.state.path]
            if let file = stack.configurationFile { words += ["--config", file] }
            let last = try StackLayer(stack.state).startOptions()
            let options = last.words
            let missing = last.missing(in: ProcessInfo.processInfo.environment)
            if !missing.isEmpty, !stack.isUp() {
                StandardStream.error.write(
                    "set when the stack was last started, but not now: \(missing.joined(separator: ", ")); what may "
                        + "be secret isn't kept, but taken from the shell that starts the stack\n")
            }
            let remembered = RememberedVariables.inForce.sorted { $0.key < $1.key }.map { name, value in
                name + "=" + Advice.quoted(value)
            }
            let repeated = remembered + options.map(Advice.quoted)
            if !repeated.isEmpty, !stack.isUp() {
                let given = repeated.joined(separator: " ")
                StandardStream.error.write(
                    stack.advice.addressed("as last time: \(given); 'healthbus up --detach' takes other options\n"))
            }
            return try BackgroundStack(stack).start(words + options)
        }
        let runs = try ProcessClient(stack).set(name, runs: true)
        StandardStream.output.write(
            stack.advice.addressed(
                runs
                    ? "'\(name)' runs\n"
                    : "'\(name)' will run from the next start: 'healthbus start' starts the stack\n"
            ))
    }
}
