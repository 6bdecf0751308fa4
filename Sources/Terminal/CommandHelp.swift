import Logging

/// What a command accepts; used both for parsing and for its help.
package struct CommandHelp: Sendable {
    package struct Option: Sendable {
        /// "--window".
        package var name: String
        /// "-w"; nil if there is none.
        package var short: String?
        /// The meaning of its value, such as "seconds"; nil for a flag.
        package var value: String?
        package var help: String
        /// May be given several times.
        package var repeats: Bool
        /// The words that a shell offers for its value; empty to go by the value's name.
        package var words: [String]

        package init(
            _ name: String, short: String? = nil, value: String? = nil, words: [String] = [], repeats: Bool = false,
            help: String
        ) {
            (self.name, self.short, self.value, self.words, self.repeats) = (name, short, value, words, repeats)
            self.help = help
        }

        var kind: WordKind { words.isEmpty ? WordKind(value ?? "") : .choice(words) }
    }

    package struct Positional: Sendable {
        /// "file".
        package var name: String
        package var isRequired: Bool
        /// Takes all remaining arguments; allowed only for the last positional.
        package var repeats: Bool
        /// The words that a shell offers for it; empty to go by its name.
        package var words: [String]

        package init(_ name: String, isRequired: Bool = true, repeats: Bool = false, words: [String] = []) {
            (self.name, self.isRequired, self.repeats, self.words) = (name, isRequired, repeats, words)
        }

        var kind: WordKind { words.isEmpty ? WordKind(name) : .choice(words) }
    }

    /// Another command, whose options people may try to use here.
    package struct Kin: Sendable {
        /// "healthbus up".
        let name: String
        let options: [Option]

        package init(_ command: CommandHelp) { (name, options) = (command.name, command.options) }
    }

    /// The command as typed, including the program's name: "healthbus import".
    package var name: String
    /// One sentence.
    package var summary: String
    /// What the command's own help adds to the summary; empty if that says it all.
    package var details: String
    package var positionals: [Positional]
    /// By first positional: the kinds of those that follow it, where they aren't the usual ones.
    package var following: [String: [WordKind]]
    package var options: [Option]
    /// What the exit codes mean, if they say more than success or failure.
    package var exitCodes: [(code: ExitCode, meaning: String)]
    /// Complete command lines.
    package var examples: [String]
    /// What to report if there are too few positional arguments; nil to name the missing one.
    package var mistake: (@Sendable (_ words: [String]) -> Failure?)?
    /// The command to suggest if one of its options is given here.
    package var kin: Kin?

    package init(
        name: String, summary: String, details: String = "", positionals: [Positional] = [],
        following: [String: [WordKind]] = [:], options: [Option] = [],
        exitCodes: [(code: ExitCode, meaning: String)] = [], examples: [String] = [],
        mistake: (@Sendable (_ words: [String]) -> Failure?)? = nil, kin: Kin? = nil
    ) {
        (self.name, self.summary, self.details, self.positionals) = (name, summary, details, positionals)
        self.following = following
        self.options = options + [Self.help]
        (self.exitCodes, self.examples, self.mistake, self.kin) = (exitCodes, examples, mistake, kin)
    }

    /// The word that selects the command, which is the last word of its name.
    package var word: String { name.split(separator: " ").last.map(String.init) ?? name }

    static let help = Option("--help", short: "-h", help: "show this help")

    /// "healthbus import [options] <file>...".
    package var usage: String {
        let words = positionals.map { positional in
            let word = "<\(positional.name)>" + (positional.repeats ? "..." : "")
            return positional.isRequired ? word : "[\(word)]"
        }
        return ([name, "[options]"] + words).joined(separator: " ")
    }

    /// Summary, usage, options, exit codes and examples.
    /// - Parameter width: the width of the terminal; nil for no line breaks.
    package func render(width columns: Int? = nil) -> String {
        var text = TextWrap.hanging("", summary, indent: 0, width: columns)
        if !details.isEmpty { text += TextWrap.hanging("", details, indent: 0, width: columns) }
        text += "\nUsage:\n  \(usage)\n\nOptions:\n"
        let forms = options.map { option in
            (option.short.map { "\($0), " } ?? "    ") + option.name + (option.value.map { " <\($0)>" } ?? "")
        }
        let width = forms.reduce(0) { max($0, DisplayWidth.of($1)) }
        for (form, option) in zip(forms, options) {
            text += TextWrap.hanging(
                "  " + form, option.help + (option.repeats ? " (may be repeated)" : ""), indent: width + 4,
                width: columns)
        }
        if !exitCodes.isEmpty {
            text += "\nExit codes:\n"
            for (code, meaning) in exitCodes {
                text += TextWrap.hanging("  \(code.rawValue)", meaning, indent: 5, width: columns)
            }
        }
        if !examples.isEmpty {
            text += "\nExamples:\n" + examples.map { "  \($0)\n" }.joined()
        }
        return text
    }
}
