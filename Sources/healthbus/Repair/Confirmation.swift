import Glibc
import Logging
import Terminal

/// Checks whether a person really wants something: by asking in a terminal, and by requiring `--yes` everywhere else.
enum Confirmation {
    static let option = CommandHelp.Option("--yes", help: "don't ask; needed where there is no terminal")

    /// What a person is asked to confirm, in its "-ing" form.
    enum Action: String {
        case delete = "deleting"
        case drop = "dropping"
        case replace = "replacing"
        case reset = "resetting"

        func question(_ object: String, _ detail: String) -> String {
            let words = "\(self) \(object)\(detail)?"
            return words.prefix(1).uppercased() + words.dropFirst()
        }

        /// The failure to report when nobody can be asked.
        func refusal(_ object: String) -> Failure {
            .usage(
                "\(rawValue) \(object) needs confirmation, and there is no terminal to ask on",
                hint: "add --yes to confirm")
        }
    }

    /// - Parameters:
    ///   - object: what the action is applied to: "2 dead letters".
    ///   - detail: anything else to know before answering; it is appended to the question.
    /// - Throws: `Failure` when nobody can be asked, or when the answer isn't yes.
    static func require(_ action: Action, _ object: String, detail: String = "", _ arguments: Arguments) throws {
        if arguments.flag("--yes") { return }
        guard isatty(STDIN_FILENO) == 1, Terminal(.error).isTerminal else { throw action.refusal(object) }
        StandardStream.error.write(action.question(object, detail) + " [y/N] ")
        let answer = readLine(strippingNewline: true)?.lowercased() ?? ""
        guard ["y", "yes"].contains(answer) else { throw Failure("nothing was changed") }
    }
}
