import Foundation

/// The names of tests and commands on which a page of the documentation relies, and the names that exist.
struct DocumentedNames {
    /// Functions with `@Test`, and suites.
    private var tests: Set<String> = []
    private var commands: [String: Command] = [:]

    private struct Command {
        var options: Set<String>
        /// The words that may come first after the command; nil if any word is allowed.
        var words: Set<String>?
    }

    init() throws {
        for file in try Checkout.sources(in: "Tests") { collectTests(file) }
        let program = try Checkout.sources(in: "Sources/healthbus").map(\.text)
        let shared = program.reduce(into: [String: String]()) { shared, file in
            for match in file.matches(of: #/static (?:let|func) (\w+)[^"]*?\(\s*"(--[a-z-]+)"/#) {
                shared[String(match.1)] = String(match.2)
            }
        }
        for file in program { collectCommands(file, shared) }
    }

    private mutating func collectTests(_ source: Source) {
        var isTest = false
        let (suite, function) = (#/struct (\w+Tests)\b/#, #/func `?(\w+)/#)
        for line in source.lines {
            if Source.has(String(line), "@Test") { isTest = true }
            if Source.has(String(line), "Tests"), let match = line.firstMatch(of: suite) {
                tests.insert(String(match.1))
            }
            if isTest, Source.has(String(line), "func "), let match = line.firstMatch(of: function) {
                tests.insert(String(match.1))
                isTest = false
            }
        }
    }

    /// Reads the commands from their source, since a program can't be imported.
    /// - Parameter shared: options that are shared by several commands, by the name under which they are declared.
    private mutating func collectCommands(_ source: String, _ shared: [String: String]) {
        for block in source.components(separatedBy: "name: \"healthbus ").dropFirst() {
            let declared = block.components(separatedBy: "examples:")[0]
            let name = String(declared.prefix { $0 != "\"" })
            var options = Set(declared.matches(of: #/"(--?[a-z-]+)"/#).map { String($0.1) }).union(["--help"])
            let members = Set(declared.matches(of: #/\.(\w+)/#).map { String($0.1) })
            if members.contains("stackOptions") || members.contains("startOptions") {
                options.formUnion(["--state", "--config"])
            }
            options.formUnion(members.compactMap { shared[$0] })
            let first = declared.firstMatch(of: #/positionals: \[\s*\.init\("([^"]+)"/#).map { String($0.1) }
            let words = first.flatMap { $0.contains("|") ? Set($0.split(separator: "|").map(String.init)) : nil }
            commands[name] = Command(options: options, words: words)
        }
    }
}

extension DocumentedNames {
    /// The text of the pages, by path within the checkout.
    static func pages() throws -> [String: String] {
        let docs = try FileManager.default.contentsOfDirectory(atPath: Checkout.root.appending(path: "docs").path)
            .filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
        return Dictionary(
            uniqueKeysWithValues: try (docs + ["README.md", "CONTRIBUTING.md"]).map {
                ($0, try Checkout.text($0))
            })
    }

    /// The environment variables that any of the programs reads.
    static func variables() throws -> Set<String> {
        let variable = #/"(HEALTHBUS_[A-Z_]+)"/#
        let lines = try Checkout.sources().flatMap { $0.lines(with: "\"HEALTHBUS_") }
        return Set(lines.flatMap { $0.matches(of: variable).map { String($0.1) } })
    }

    func missing(in page: String) -> [String] {
        Self.testNames(in: page).filter { !tests.contains($0) } + Self.commandLines(in: page).compactMap(wrong)
    }

    func names(in page: String) -> [String] { Self.testNames(in: page) + Self.commandLines(in: page) }

    /// In backticks: anything that ends in `()` or in `Tests`, follows the word *tests*, or is in a column *shown
    /// by*.
    private static func testNames(in page: String) -> [String] {
        var names = page.matches(of: #/`([a-z]\w*)\(\)`/#).map { String($0.1) }
        names += page.matches(of: #/`([A-Z]\w*Tests)`/#).map { String($0.1) }
        for list in page.matches(of: #/\btests?:? ((?:`[a-z]\w*`(?:, | and )?)+)/#) {
            names += list.1.matches(of: #/`(\w+)`/#).map { String($0.1) }
        }
        var column: Int?
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                column = nil
                continue
            }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            if let header = cells.firstIndex(where: { $0.trimmingCharacters(in: .whitespaces) == "shown by" }) {
                column = header
            } else if let column, column < cells.count {
                names += cells[column].matches(of: #/`([a-z]\w*)`/#).map { String($0.1) }
            }
        }
        return names
    }

    /// In backticks or in a block of commands; comments don't count.
    private static func commandLines(in page: String) -> [String] {
        var lines: [String] = []
        for (index, part) in page.components(separatedBy: "```").enumerated() {
            if index.isMultiple(of: 2) {
                lines += part.matches(of: #/`(healthbus [^`]+)`/#).map { String($0.1) }
            } else {
                lines += part.split(separator: "\n").filter { $0.hasPrefix("healthbus ") }
                    .map { String($0.prefix { $0 != "#" }) }
            }
        }
        return lines
    }

    /// The first part of a command line that doesn't exist; nil if all of it does.
    private func wrong(_ line: String) -> String? {
        let words = line.split(whereSeparator: { " []".contains($0) }).dropFirst().map(String.init)
        if words == ["help"] || words.first == "help" && commands[words[1]] != nil { return nil }
        guard let name = words.first, let command = commands[name] else {
            return "healthbus \(words.first ?? "")"
        }
        if let option = words.first(where: { $0.hasPrefix("-") && $0 != "-" && !command.options.contains($0) }) {
            return "healthbus \(name) \(option)"
        }
        guard let allowed = command.words, words.count > 1, !words[1].hasPrefix("-") else { return nil }
        let given = words[1].split(separator: "|").map(String.init)
        return given.first { !allowed.contains($0) }.map { "healthbus \(name) \($0)" }
    }
}
