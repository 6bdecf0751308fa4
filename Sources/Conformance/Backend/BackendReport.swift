import HealthModel
import Terminal

/// How a backend breaks the contract. The data is the test's own, so values may appear here.
package struct BackendFault: Error, Sendable, Equatable {
    package var asked: String
    package var expected: String
    package var seen: String
    /// What to do.
    package var advice: String

    package init(asked: String, expected: String, seen: String, advice: String) {
        (self.asked, self.expected, self.seen, self.advice) = (asked, expected, seen, advice)
    }

    var details: [(name: String, text: String)] {
        [("asked", asked), ("expected", expected), ("seen", seen), ("do", advice)].filter { !$0.1.isEmpty }
    }
}

/// The result of one case.
package struct BackendResult: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case passed
        case failed(BackendFault)
        /// The case wasn't tested, for the reason given.
        case skipped(String)
    }

    package var asked: BackendCase
    package var outcome: Outcome

    package init(_ asked: BackendCase, _ outcome: Outcome) { (self.asked, self.outcome) = (asked, outcome) }

    package var isTried: Bool { if case .skipped = outcome { false } else { true } }
    package var hasFailed: Bool { if case .failed = outcome { true } else { false } }

    var word: String {
        switch outcome {
        case .passed: "passed"
        case .failed: asked.isRequired ? "FAILED" : "missing"
        case .skipped: "skipped"
        }
    }

    var value: Value {
        var members: [String: Value] = [
            "case": .string(asked.rawValue), "about": .string(asked.about), "required": .bool(asked.isRequired),
            "result": .string(word.lowercased()),
        ]
        switch outcome {
        case .passed: break
        case .skipped(let why): members["why"] = .string(why)
        case .failed(let fault): for (name, text) in fault.details { members[name] = .string(text) }
        }
        return .object(members)
    }
}

/// All results for one backend, in a form for people and one for programs.
package struct BackendReport: Sendable {
    package var url: String
    /// The user for whom the test wrote data.
    package var user: String
    package var results: [BackendResult]
    /// The number of elements that the test wrote and couldn't delete.
    package var left: Int
    /// Whether the server accepted anything.
    package var hasWritten: Bool

    package init(url: String, user: String, results: [BackendResult], left: Int, hasWritten: Bool = true) {
        self.hasWritten = hasWritten
        (self.url, self.user, self.results, self.left) = (url, user, results, left)
    }

    /// The cases that weren't tested, by reason.
    private var skipped: String {
        var names: [(why: String, cases: [String])] = []
        for result in results {
            guard case .skipped(let why) = result.outcome else { continue }
            if let place = names.firstIndex(where: { $0.why == why }) {
                names[place].cases.append(result.asked.rawValue)
            } else {
                names.append((why, [result.asked.rawValue]))
            }
        }
        return names.map { "\nNot tried, because \($0.why): \($0.cases.joined(separator: ", "))\n" }.joined()
    }

    private func count(_ word: String) -> Int { results.count { $0.word == word } }

    /// The required cases that failed.
    package var failed: [BackendResult] { results.filter { $0.hasFailed && $0.asked.isRequired } }

    package var json: String {
        Value.object([
            "url": .string(url), "user": .string(user), "passed": .integer(Int64(count("passed"))),
            "failed": .integer(Int64(failed.count)), "missing": .integer(Int64(count("missing"))),
            "skipped": .integer(Int64(count("skipped"))), "left": .integer(Int64(left)),
            "cases": .array(results.map(\.value)),
        ]).json(pretty: true)
    }

    /// One line per case, then what failed and what to do.
    package func table(for terminal: Terminal) -> String {
        var table = Table([.init("Case"), .init("Result"), .init("Needed", givesWay: 1), .init("Asks")])
        for result in results {
            table.add([
                result.asked.rawValue, result.word, result.asked.isRequired ? "required" : "advised",
                result.asked.about,
            ])
        }
        var text = table.render(for: terminal)
        for result in results {
            switch result.outcome {
            case .passed: continue
            case .skipped: continue
            case .failed(let fault):
                let verb = result.asked.isRequired ? "failed" : "is missing"
                text += "\n\(terminal.styled("\(result.asked.rawValue) \(verb)", .bold))\n"
                for (name, line) in fault.details {
                    text += "  \(name)\(String(repeating: " ", count: 10 - name.count))\(line)\n"
                }
            }
        }
        text += skipped
        let missing = count("missing")
        text += "\n\(url): \(count("passed")) of \(results.count) cases passed"
        if missing > 0 { text += ", \(missing) of the merely recommended ones \(missing == 1 ? "is" : "are") missing" }
        text += "\n"
        text +=
            left == 0 && !hasWritten
            ? "The server accepted nothing, so there was nothing to delete.\n"
            : left == 0
                ? "The test has deleted everything it wrote (user \(user)).\n"
                : "Up to \(HumanFormat.count(left, "element")) written by the test may still be there: delete those of the user \(user).\n"
        return text
    }
}
