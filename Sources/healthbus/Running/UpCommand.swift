import Configuration
import Control
import Foundation
import HealthModel
import Inspection
import Logging
import Supervisor
import Terminal

enum UpCommand: Command {
    static let help = CommandHelp(
        name: "healthbus up", summary: "Start the stack; Ctrl-C stops it.",
        options: CommandHelp.startOptions + [
            .init(
                "--import", value: "file", repeats: true,
                help: "import this export once the stack is ready; with --detach, in the background"
            ),
            .user("the person whose samples the imports are (default: me)"),
            .init("--mix-made-up", help: "with --import: even if that mixes made-up data with a person's"),
            .init(
                "--inbox", value: "folder",
                help: "import files dropped there, then move them to its done/ or failed/"),
            .init(
                "--zone", value: "zone",
                help: "where a new person's days begin unless the data says; 'start' doesn't repeat it"),
            .init(
                "--metrics", value: "[host:]port",
                help: "answer /metrics, /live and /ready there (default: as the configuration's \"monitoring\" says)"),
            .init("--detach", help: "return once the stack is ready; it keeps running in the background"),
            .init("--verbose", help: "on a terminal: also show what the processes log"),
            .init(
                "--until-idle", help: "end with 0 once everything is delivered and every past day is final"),
            .json,
        ],
        examples: [
            "healthbus up", "healthbus up --detach",
            "healthbus up --import export.zip --zone Europe/Berlin --until-idle",
        ])

    static let startsAfresh = true

    static func run(_ arguments: Arguments) throws {
        // This is checked before the state folder is created.
        if let zone = arguments.value("--zone") { try ZoneName.require(zone) }
        if arguments.flag("--detach") { return try detach(arguments) }
        Supervisor.blockSignals()
        let stack = try Stack(starting: arguments)
        let isJSON = arguments.flag("--json")
        // In the background, output goes to a file, whose size is kept small.
        let file = LogFile(path: BackgroundStack.output(of: stack))
        let say: @Sendable (String) -> Void = { line in
            if let file { file.write(line + "\n") } else { LiveLine.error.say(line) }
        }
        let isQuiet = file != nil || (Terminal(.error).isTerminal && !arguments.flag("--verbose"))
        var options = StackRunner.Options()
        options.imports = arguments.values("--import")
        (options.user, options.zone) = (arguments.value("--user"), arguments.value("--zone"))
        options.inbox = try inbox(arguments)
        options.monitoring = try arguments.endpoint("--metrics")
        options.passesOn = isQuiet ? .error : .debug
        (options.untilIdle, options.mixesMadeUp) = (arguments.flag("--until-idle"), arguments.flag("--mix-made-up"))
        options.showsSummary = Terminal(.error).isTerminal
        if let inbox = options.inbox { say("inbox  \(inbox)") }
        say("state  \(stack.state.path)")
        let outcome = try StackRunner(stack, options, say: say, passOn: say).run()
        if isJSON {
            StandardStream.output.write(
                Value.object([
                    "state": .string(stack.state.path), "idle": .bool(outcome.isIdle),
                    "blocked": Value(outcome.blocked), "onTrust": .bool(!outcome.trust.isEmpty),
                    "files": .array(outcome.imports.map(\.value)),
                ]).json(pretty: true) + "\n")
        } else {
            for file in outcome.imports { StandardStream.output.write(ImportCommand.line(file) + "\n") }
        }
        for path in options.imports.dropFirst(outcome.imports.count) {
            StandardStream.error.write(
                "\(path) wasn't imported completely: give it again; nothing is stored twice\n")
        }
        if options.untilIdle, !outcome.isIdle {
            throw Failure(
                outcome.blocked.map { "the stack stopped before finishing: \($0)" }
                    ?? "the stack was stopped before everything was delivered",
                hint: "finished work is kept; "
                    + (outcome.blocked == nil
                        ? "start again to continue"
                        : "fix this ('healthbus alerts' has details), then start again to continue"))
        }
        if let damaged = outcome.imports.first(where: \.isDamaged) { throw ImportCommand.damaged(damaged) }
        if options.untilIdle, !isJSON {
            let done = stack.destinations.isEmpty ? "computed" : "delivered"
            StandardStream.error.write(
                "Everything is \(done)\(outcome.trust.clause), and every past day is final.\n")
        }
    }
}

extension UpCommand {
    private static func detach(_ arguments: Arguments) throws {
        for option in ["--until-idle", "--json"] where arguments.flag(option) {
            throw Failure.usage("--detach can't be combined with \(option)", hint: "leave out one of them")
        }
        let words = CommandLine.arguments.dropFirst().filter { $0 != "--detach" }
        try BackgroundStack(try Stack(starting: arguments)).start(Array(words), imports: arguments.values("--import"))
    }

    /// - Throws: `Failure` if files can't be taken from the folder: the person who has just named it can fix that right
    ///   away.
    private static func inbox(_ arguments: Arguments) throws -> String? {
        guard let given = arguments.value("--inbox") else { return nil }
        let path = URL(fileURLWithPath: given).standardizedFileURL.path
        if let problem = InboxFolder.problem(path) { throw Failure("--inbox: ", said: problem) }
        return path
    }
}

extension Arguments {
    /// An option's value as an address to listen on; nil when it wasn't given.
    func endpoint(_ option: String) throws -> Endpoint? {
        guard let text = value(option) else { return nil }
        guard let endpoint = Endpoint(text) else {
            throw Failure.usage("\(option) can't be \"\(text)\"", hint: "write it as 9464 or 127.0.0.1:9464")
        }
        return endpoint
    }
}
