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
    /// Whose data a command is about.
    var user: String { value("--user") ?? "me" }

    func declares(_ option: String) -> Bool { command.options.contains { $0.name == option } }

    /// An option's value; nil for a command without that option, too.
    func given(_ option: String) -> String? { declares(option) ? value(option) : nil }

    /// Prints a result: with `--json` as one value, else the text.
    func print(_ value: @autoclosure () throws -> Value, else text: @autoclosure () throws -> String) rethrows {
        try print(json: try value().json(pretty: true), else: try text())
    }

    func print(json: @autoclosure () throws -> String, else text: @autoclosure () throws -> String) rethrows {
        StandardStream.output.write(flag("--json") ? try json() + "\n" : try text())
    }

    /// Prints a list; says on standard error instead that it's empty, unless as JSON.
    /// - Parameter none: what to say; nil if the list isn't empty.
    func print(
        json: @autoclosure () throws -> String, none: @autoclosure () throws -> String?,
        else text: @autoclosure () throws -> String
    ) rethrows {
        guard !flag("--json"), let none = try none() else { return try print(json: try json(), else: try text()) }
        StandardStream.error.write(advice.addressed(none))
    }

    /// The action that the first word names.
    /// - Parameters:
    ///   - usual: the action if there is no word.
    ///   - offering: the words before all actions, where none has a similar name.
    func action<Action: RawRepresentable<String> & CaseIterable>(
        usual: Action? = nil, offering: String = "choose from"
    ) throws -> Action {
        let word = positionals.first ?? usual?.rawValue ?? ""
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

    /// Refuses an option that only other actions take.
    func refuse(_ option: String, isOnlyFor actions: String) throws {
        if flag(option) { throw Failure.usage("\(option) is only for \(actions)", hint: "leave it out") }
    }

    /// Refuses those of the options that an action doesn't take.
    func refuse(_ options: [String], besides known: Set<String>, of action: String) throws {
        if let odd = options.first(where: { flag($0) && !known.contains($0) }) {
            throw Failure.usage("\(odd) isn't for \(action)", hint: "leave it out")
        }
    }

    /// An option's value as a number; nil when it wasn't given.
    /// - Parameter hint: what to give instead of anything else.
    func number(_ option: String, in range: ClosedRange<Double>, hint: String) throws -> Double? {
        guard let text = value(option) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw Failure.usage("\(option) can't be \"\(text)\"", hint: hint)
        }
        return number
    }
}
