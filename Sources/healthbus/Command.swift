import HealthModel
import Logging
import Terminal

/// A command of the program: its arguments, and what it does.
protocol Command {
    static var help: CommandHelp { get }
    /// Whether it starts a stack with exactly what it is given, whatever the stack was last started with.
    static var startsAfresh: Bool { get }
    /// Whether it reports a full disk as one of its findings; others say so before anything else.
    static var looksAtTheDisk: Bool { get }
    static func run(_ arguments: Arguments) throws
}

extension Command {
    static var startsAfresh: Bool { false }
    static var looksAtTheDisk: Bool { false }
}

// Options shared by several commands, so that they are worded the same everywhere.
extension CommandHelp {
    /// For every command that works on a stack.
    static let stackOptions: [Option] = [.state, .stackConfig]
    /// For a command that starts a stack.
    static let startOptions: [Option] = [.state, .config]
}

extension CommandHelp.Option {
    static let state = Self(
        "--state", value: "folder",
        help: "the stack's state folder (default: HEALTHBUS_STATE, else ~/.local/state/healthbus)")
    static let stackConfig = Self(
        "--config", value: "file",
        help: "a configuration to lay over the default one (default: HEALTHBUS_CONFIG, else that of the last 'up')")
    static let config = Self(
        "--config", value: "file", help: "a configuration to lay over the default one (default: HEALTHBUS_CONFIG)")
    static let json = Self("--json", help: "one JSON value on standard output, and nothing else")

    static func user(_ help: String) -> Self { .init("--user", value: "name", help: help) }
}

extension Arguments {
    /// Prints a result: with `--json` as one value, else the text.
    func print(_ value: @autoclosure () throws -> Value, else text: @autoclosure () throws -> String) rethrows {
        try print(json: try value().json(pretty: true), else: try text())
    }

    func print(json: @autoclosure () throws -> String, else text: @autoclosure () throws -> String) rethrows {
        StandardStream.output.write(flag("--json") ? try json() + "\n" : try text())
    }

    /// The action that a word names.
    /// - Parameter offering: the words before all actions, where none has a similar name.
    func action<Action: RawRepresentable<String> & CaseIterable>(_ word: String, offering: String) throws -> Action {
        if let action = Action(rawValue: word) { return action }
        let all = Action.allCases.map(\.rawValue)
        throw Failure.usage(
            "'\(command.word)' has no subcommand '\(word)'",
            hint: Nearest.hint(
                for: word, among: all, quoted: false, else: "\(offering) \(all.joined(separator: ", "))"))
    }

    /// The words after an action on the command line, of which each has a name.
    func words(after action: String, _ names: [String]) throws -> [String] {
        let words = Array(positionals.dropFirst())
        guard words.count == names.count else {
            throw Failure.usage(
                words.count < names.count
                    ? "<\(names[words.count])> is missing" : "unexpected \"\(words[names.count])\"",
                hint: "usage: "
                    + (["healthbus \(command.word) \(action)"] + names.map { "<\($0)>" }).joined(separator: " "))
        }
        return words
    }
}
