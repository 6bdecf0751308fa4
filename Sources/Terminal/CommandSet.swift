import Logging

/// A program's commands. Finds the one that a command line names, and lists them all.
package struct CommandSet: Sendable {
    package enum Selection: Sendable {
        /// Print this and exit with status 0: help, or the version.
        case text(String)
        /// Run the command with that short name ("import") and these arguments.
        case command(String, Arguments)
    }

    package let program: String
    package let version: String
    package let summary: String
    /// In the order of the help.
    package let groups: [Group]
    package var commands: [CommandHelp] { groups.flatMap(\.commands) }

    /// A group of commands that serve one purpose.
    package struct Group: Sendable {
        package let title: String
        package let commands: [CommandHelp]

        package init(_ title: String, _ commands: [CommandHelp]) { (self.title, self.commands) = (title, commands) }
    }

    package init(program: String, version: String, summary: String, groups: [Group]) {
        (self.program, self.version, self.summary, self.groups) = (program, version, summary, groups)
    }

    /// - Parameters:
    ///   - words: the command line without the program's name. Without any words, or with `help` or `--help`, the
    ///     result is help; with `--version`, the version.
    ///   - width: the width of the terminal, for help; nil for no line breaks.
    /// - Throws: `Failure` (usage).
    package func select(_ words: [String], width: Int? = nil) throws(Failure) -> Selection {
        guard let word = words.first, word != "--help", word != "-h" else { return .text(render(width: width)) }
        if word == "--version" { return .text("\(program) \(version)\n") }
        if word == "help" {
            return .text(words.count > 1 ? try command(words[1]).render(width: width) : render(width: width))
        }
        let help = try command(word)
        let arguments = try Arguments(Array(words.dropFirst()), for: help)
        return arguments.wantsHelp ? .text(help.render(width: width)) : .command(word, arguments)
    }

    private func command(_ word: String) throws(Failure) -> CommandHelp {
        if let found = commands.first(where: { $0.word == word }) { return found }
        throw .usage(
            "unknown command \(word)",
            hint: Nearest.hint(for: word, among: commands.map(\.word), quoted: false, else: "see \(program) --help"))
    }

    package func render(width columns: Int? = nil) -> String {
        let width = commands.reduce(0) { max($0, DisplayWidth.of($1.word)) }
        let groups = groups.map { group in
            let lines = group.commands.map { help in
                TextWrap.hanging("  " + help.word, help.summary, indent: width + 4, width: columns)
            }
            return "\(group.title):\n\(lines.joined())\n"
        }
        return TextWrap.hanging("", summary, indent: 0, width: columns)
            + "\nUsage:\n  \(program) <command> [options]\n\n\(groups.joined())"
            + "\(program) help <command> explains each one, \(program) --version prints the release.\n"
    }
}
