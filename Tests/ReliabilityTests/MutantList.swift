import Foundation

/// The mutants of `Tests/Mutants/mutants.txt`, as `run.py` beside it reads them.
struct MutantList {
    struct Mutant {
        var name = ""
        var rule = 0
        var file = ""
        var old = ""
        var new = ""
        /// Suite/test.
        var tests: [String] = []
    }

    static let checkout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    static func text(_ path: String) throws -> String {
        try String(contentsOfFile: checkout + "/" + path, encoding: .utf8)
    }

    let mutants: [Mutant]

    init() throws {
        var found: [Mutant] = []
        for line in try Self.text("Tests/Mutants/mutants.txt").split(separator: "\n", omittingEmptySubsequences: false)
        {
            let words = line.split(separator: " ")
            if line.first == "-" || line.first == "+" {
                guard !found.isEmpty else { throw Unreadable(line: String(line)) }
                let text = line.dropFirst() + "\n"
                if line.first == "-" {
                    found[found.count - 1].old += text
                } else {
                    found[found.count - 1].new += text
                }
            } else if words.count == 2, words[0] == "mutant" {
                found.append(Mutant(name: String(words[1])))
            } else if words.count == 2, !found.isEmpty, words[0] == "rule", let rule = Int(words[1]) {
                found[found.count - 1].rule = rule
            } else if words.count == 2, !found.isEmpty, words[0] == "file" {
                found[found.count - 1].file = String(words[1])
            } else if words.count == 2, !found.isEmpty, words[0] == "test" {
                found[found.count - 1].tests.append(String(words[1]))
            } else if !words.isEmpty, line.first != "#" {
                throw Unreadable(line: String(line))
            }
        }
        mutants = found
    }

    struct Unreadable: Error {
        let line: String
    }
}
