import Foundation

/// A block of commands in README or docs, as a person would copy it.
struct CommandBlock {
    /// The path of the page in the checkout, and the line where the block begins: `docs/backend.md:262`.
    let place: String
    /// The word after the opening fence: `sh`, or nothing.
    let language: String
    let text: String
    /// From the comment before the block, `<!-- not run: REASON -->`.
    let reasonNotToRun: String?

    /// Why a block can't be run in a test, and what it must therefore contain: a block that could be run must not be
    /// marked.
    static var reasons: [String: Regex<Substring>] {
        [
            "containers": #/\bdocker(?:-compose)? /#,
            "PostgreSQL": #/\b(?:createdb|createuser|psql) |postgresql:///#,
            "MQTT broker": #/\bmosquitto_sub /#,
            "another machine": #/https://[a-z.]+\.example\.org/#,
            "sqlite3": #/\bsqlite3 /#,
            "a finding of the fuzzer": #/\.build/fuzz/found/#,
            "a plugin that you write": #/--config caffeine\.json/#,
            "a server of your own": #/healthbus backend test /#,
        ]
    }

    /// The pages, by their paths within the checkout.
    static let pages: [String] = {
        let docs = (try? FileManager.default.contentsOfDirectory(atPath: Programs.checkout + "/docs")) ?? []
        return ["README.md", "CONTRIBUTING.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
    }()

    static func all(of page: String) throws -> [CommandBlock] {
        let text = try String(contentsOfFile: "\(Programs.checkout)/\(page)", encoding: .utf8)
        var blocks: [CommandBlock] = []
        var mark: String?
        var open: (line: Int, language: String, lines: [Substring])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let fence = line.drop { $0 == " " }
            if fence.hasPrefix("```") {
                if let block = open {
                    blocks.append(
                        CommandBlock(
                            place: "\(page):\(block.line)", language: block.language,
                            text: block.lines.joined(separator: "\n"), reasonNotToRun: mark))
                    (open, mark) = (nil, nil)
                } else {
                    open = (index + 1, String(fence.dropFirst(3)), [])
                }
            } else if open != nil {
                open?.lines.append(line)
            } else if let found = line.wholeMatch(of: #/ *<!-- not run: (.+) -->/#) {
                mark = String(found.1)
            } else if !fence.isEmpty {
                mark = nil
            }
        }
        return blocks
    }

    /// Each command, together with the lines that continue it after a backslash or within quotes. Without comments.
    var commands: [String] {
        var commands: [String] = []
        var part = ""
        for line in text.split(separator: "\n") {
            part += part.isEmpty ? String(line) : "\n" + line
            if part.hasSuffix("\\") || Self.isWithinQuotes(part) { continue }
            let command = part.replacing(#/(^|\s+)# .*/#, with: "").trimmingCharacters(in: .whitespaces)
            if !command.isEmpty { commands.append(command) }
            part = ""
        }
        return part.isEmpty ? commands : commands + [part]
    }

    /// Whether a shell would find a quote still open at the end of a command.
    private static func isWithinQuotes(_ command: String) -> Bool {
        var open: Character?
        for character in command.replacing(#/(^|\s+)# [^\n]*/#, with: "") where character == "'" || character == "\"" {
            if open == nil { open = character } else if open == character { open = nil }
        }
        return open != nil
    }
}
