import Logging

/// The words of a command line, sorted according to its `CommandHelp`.
///
/// `--option value`, `--option=value`, `-o value`, `-n20`; everything after `--` is positional. A lone `-` is also
/// positional, as is a negative number. A value may begin with a hyphen ("--offset -5") unless it is itself an option.
package struct Arguments: Sendable {
    package let command: CommandHelp
    package private(set) var positionals: [String] = []
    /// Whether `--help` was among the words; if it was, nothing else has been checked.
    package private(set) var wantsHelp = false
    private var given: [String: [String]] = [:]

    /// - Parameter words: excluding the program's and the command's name.
    /// - Throws: `Failure` (usage) that suggests the nearest option for an unknown one.
    package init(_ words: [String], for command: CommandHelp) throws(Failure) {
        self.command = command
        var rest = words[...]
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            wantsHelp = true
            return
        }
        while let word = rest.popFirst() {
            if word == "--" {
                positionals += rest
                break
            } else if word.hasPrefix("-"), word != "-", word.dropFirst().first?.isNumber != true {
                try take(option: word, &rest)
            } else {
                positionals.append(word)
            }
        }
        try checkPositionals()
    }

    /// Whether a flag was given.
    package func flag(_ name: String) -> Bool { given[declared(name).name] != nil }

    /// An option's value; nil when it wasn't given.
    package func value(_ name: String) -> String? { given[declared(name).name]?.last }

    /// The values of a repeatable option, in order.
    package func values(_ name: String) -> [String] { given[declared(name).name] ?? [] }

    /// An option's value as a number; nil when it wasn't given.
    ///
    /// - Throws: `Failure` (usage) when it isn't a number, or is outside `range`.
    package func integer(_ name: String, in range: ClosedRange<Int> = .min ... .max) throws(Failure) -> Int? {
        guard let text = value(name) else { return nil }
        if let number = Int(text), range.contains(number) { return number }
        let bounds =
            range == .min ... .max ? "a whole number" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
        throw .usage("\(name) can't be \"\(text)\"", hint: "give \(bounds)")
    }

    /// An option's value as one of an enumeration's names; nil when it wasn't given.
    ///
    /// - Throws: `Failure` (usage) that lists the names.
    package func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, as type: Choice.Type
    ) throws(Failure) -> Choice? where Choice.RawValue == String {
        guard let text = value(name) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let all = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        throw .usage("\(name) can't be \"\(text)\"", hint: "choose from \(all)")
    }

    private func declared(_ name: String) -> CommandHelp.Option {
        guard let option = command.options.first(where: { $0.name == name }) else {
            preconditionFailure("\(command.name) doesn't declare \(name)")
        }
        return option
    }

    private mutating func take(option word: String, _ rest: inout ArraySlice<String>) throws(Failure) {
        let parts = Self.parts(of: word)
        guard let option = command.options.first(where: { $0.name == parts[0] || $0.short == parts[0] }) else {
            let kin = command.kin.flatMap { kin in
                kin.options.contains { $0.name == parts[0] || $0.short == parts[0] } ? kin.name : nil
            }
            throw .usage(
                "unknown option \(parts[0])",
                hint: kin.map { "'\($0)' takes it" }
                    ?? Nearest.hint(
                        for: parts[0], among: command.options.map(\.name), quoted: false,
                        else: "see \(command.name) --help"
                    ))
        }
        if let known = given[option.name], !known.isEmpty, !option.repeats, option.value != nil {
            throw .usage("\(option.name) is given twice", hint: "give it once")
        }
        guard let valueName = option.value else {
            if parts.count > 1 { throw .usage("\(option.name) takes no value", hint: "leave out \"=\(parts[1])\"") }
            given[option.name] = []
            return
        }
        if parts.count > 1 {
            given[option.name, default: []].append(parts[1])
        } else if let next = rest.first, next != "--", !isOption(next) {
            given[option.name, default: []].append(rest.removeFirst())
        } else {
            throw .usage("\(option.name) needs a value", hint: "give it as \(option.name) <\(valueName)>")
        }
    }

    /// The option, and the value in the same word if there is one. Only a number is accepted as a value joined to a
    /// short option: anything else may be a long option that lacks a hyphen.
    private static func parts(of word: String) -> [String] {
        let rest = word.dropFirst(2)
        if !word.hasPrefix("--"), !rest.isEmpty, rest.allSatisfy(\.isNumber) {
            return [String(word.prefix(2)), String(rest)]
        }
        return word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    }

    private func isOption(_ word: String) -> Bool {
        let name = word.prefix { $0 != "=" }
        return command.options.contains { $0.name == name || $0.short.map { $0 == name } ?? false }
    }

    private func checkPositionals() throws(Failure) {
        let required = command.positionals.filter(\.isRequired)
        if positionals.count < required.count {
            if let known = command.mistake?(positionals) { throw known }
            throw .usage("<\(required[positionals.count].name)> is missing", hint: "usage: \(command.usage)")
        }
        if positionals.count > command.positionals.count, !(command.positionals.last?.repeats ?? false) {
            let word = positionals[command.positionals.count]
            // A command's output file is given by an option, unlike its input.
            let output = command.positionals.isEmpty ? command.options.first { $0.short == "-o" } : nil
            // So are days.
            let isDays = word.first?.isNumber == true && command.options.contains { $0.name == "--last" }
            throw .usage(
                "unexpected \"\(word)\"",
                hint: output.map { "-o \(word) names the \($0.value ?? "file")" }
                    ?? (isDays ? "did you mean --last \(word)?" : "usage: \(command.usage)"))
        }
    }
}
