import Glibc
import Logging
import Terminal

/// Whether a person really wants something: asked in a terminal, confirmed with `--yes` everywhere else.
enum Confirmation {
    static let option = CommandHelp.Option("--yes", help: "don't ask; needed where there is no terminal")

    /// - Throws: `Failure` when nobody can be asked, or the answer isn't yes.
    static func require(_ question: String, _ arguments: Arguments) throws {
        if arguments.flag("--yes") { return }
        guard isatty(STDIN_FILENO) == 1, Terminal(.error).isTerminal else {
            throw Failure.usage("\(question)? There is no terminal to ask in", hint: "add --yes if you mean it")
        }
        StandardStream.error.write("\(question)? [y/N] ")
        let answer = readLine(strippingNewline: true)?.lowercased() ?? ""
        guard ["y", "yes"].contains(answer) else { throw Failure("nothing was changed") }
    }
}
