/// Makes commands in messages work as printed: 'healthbus status' becomes 'healthbus status --state /srv/health' if the
/// stack was chosen on the command line. Pure.
///
/// A command is in single quotes and begins with the program's name. The author of a message needn't know where the
/// stack is.
package struct Advice: Sendable, Equatable {
    /// The state folder to name in printed commands; nil if none is needed.
    package var state: String?
    /// The configuration to repeat.
    package var configuration: String?
    /// The configuration to repeat in commands that start a stack, which don't use the one that the stack was last
    /// started with.
    package var started: String?
    /// The person to name in commands about what people enter.
    package var user: String?

    package init(
        state: String? = nil, configuration: String? = nil, started: String? = nil, user: String? = nil
    ) {
        (self.state, self.configuration, self.started, self.user) = (state, configuration, started, user)
    }

    /// Refers to the stack that a plugin's command line names. Its words needn't make sense: the advice may be about one
    /// of them.
    package init(words: [String]) {
        func value(_ option: String) -> String? {
            guard let place = words.lastIndex(where: { $0 == option || $0.hasPrefix(option + "=") }) else { return nil }
            if words[place] != option { return String(words[place].dropFirst(option.count + 1)) }
            return place + 1 < words.count ? words[place + 1] : nil
        }
        self.init(state: value("--state"), configuration: value("--config"), started: value("--config"))
    }

    private static let opening = "'healthbus "
    /// Commands that start a stack, and commands that don't concern one.
    private static let starting: Set<String> = ["up", "demo"]
    package static let withoutStack: Set<String> = ["generate", "plugins", "simulate"]
    /// Commands about what a person enters. `types` without a subcommand concerns everybody.
    private static let personal: Set<String> = ["events", "types own", "types add", "types change", "types remove"]

    /// The command lines in a text, without their quotes.
    package static func commands(in text: String) -> [String] {
        parts(of: text).compactMap { $0.isCommand ? String($0.text) : nil }
    }

    /// The text, with its commands given the options that they need.
    package func addressed(_ text: String) -> String {
        guard self != Advice() else { return text }
        return Self.parts(of: text).map { $0.isCommand ? addressed(command: $0.text) : String($0.text) }.joined()
    }

    package func addressed(_ failure: Failure) -> Failure {
        Failure(addressed(failure.message), hint: failure.hint.map(addressed), code: failure.code)
    }

    private func addressed(command: Substring) -> String {
        let words = command.split(separator: " ")
        guard words.count > 1, !Self.withoutStack.contains(String(words[1])) else { return String(command) }
        var configuration = Self.starting.contains(String(words[1])) ? started : configuration
        // Another stack has a configuration of its own.
        let own = state.map { " --state \(Self.quoted($0)) " }
        if words.contains("--state"), own.map({ !"\(command) ".contains($0) }) ?? true { configuration = nil }
        var options = ""
        let isPersonal = !Self.personal.isDisjoint(with: [
            String(words[1]), words[1...].prefix(2).joined(separator: " "),
        ])
        for (option, value) in [("--user", isPersonal ? user : nil), ("--state", state), ("--config", configuration)] {
            guard let value, !words.contains(Substring(option)) else { continue }
            options += " \(option) \(Self.quoted(value))"
        }
        // Anything after a redirection or a pipe belongs to the shell.
        let end = words.firstIndex { ["<", ">", "|"].contains($0) }.map { words[$0].startIndex }
        guard let end else { return command + options }
        let before = command[..<end].dropLast(1)
        return before + options + " " + command[end...]
    }

    /// Quoted so that a shell takes it as one word; in double quotes, since the command itself is in single ones.
    package static func quoted(_ word: String) -> String {
        let plain = word.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || "/._-+:@%,=~".unicodeScalars.contains($0)
        }
        guard !plain || word.isEmpty else { return word }
        return "\"" + word.map { "\"\\$`".contains($0) ? "\\\($0)" : String($0) }.joined() + "\""
    }

    private static func parts(of text: String) -> [(isCommand: Bool, text: Substring)] {
        var parts: [(isCommand: Bool, text: Substring)] = []
        var rest = text[...]
        while let start = rest.range(ofFirst: opening) {
            // The quote marks belong to the surrounding text.
            let first = rest.index(after: start)
            guard let end = rest[first...].firstIndex(of: "'") else { break }
            parts.append((false, rest[..<first]))
            parts.append((true, rest[first..<end]))
            rest = rest[end...]
            // The closing quote mustn't be taken for an opening one.
            parts.append((false, rest.prefix(1)))
            rest = rest.dropFirst()
        }
        return parts + [(false, rest)]
    }
}

extension Substring {
    /// Where a string first occurs in this one.
    fileprivate func range(ofFirst text: String) -> Index? {
        var at = startIndex
        while let found = self[at...].firstIndex(of: "'") {
            if self[found...].hasPrefix(text) { return found }
            at = index(after: found)
        }
        return nil
    }
}
