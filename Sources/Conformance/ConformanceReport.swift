import HealthModel
import Terminal

/// How a plugin breaks the contract, with the lines that show it. The data is the kit's own, so values may appear here.
package struct ConformanceFault: Error, Sendable, Equatable, CustomStringConvertible {
    package var why: String
    /// The last line or message sent to the plugin.
    package var sent: String?
    /// The last line that the plugin answered.
    package var received: String?
    /// The plugin's last line on standard error.
    package var said: String?
    package var hint: String
    /// What is wrong with the program regardless of what it was asked: several cases may fail because of it.
    package var cause: String?

    package init(
        _ why: String, sent: String? = nil, received: String? = nil, said: String? = nil, hint: String
    ) {
        (self.why, self.sent, self.received, self.said, self.hint) = (why, sent, received, said, hint)
    }

    package var description: String { why }

    /// Lines and hint, each with its name.
    var details: [(name: String, text: String)] {
        [("sent", sent), ("received", received), ("said", said), ("hint", hint)]
            .compactMap { name, text in text.flatMap { $0.isEmpty ? nil : (name, $0) } }
    }
}

/// The result of one case.
package struct ConformanceResult: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case passed
        case failed(ConformanceFault)
        /// The case wasn't tested, for the reason given.
        case skipped(String)
    }

    package var name: String
    /// What the plugin is tested for, in a few words.
    package var about: String
    package var outcome: Outcome
    package var seconds: Double

    package init(name: String, about: String, outcome: Outcome, seconds: Double) {
        (self.name, self.about, self.outcome, self.seconds) = (name, about, outcome, seconds)
    }

    /// A word short enough for a table cell.
    var word: String {
        switch outcome {
        case .passed: "passed"
        case .failed: "FAILED"
        case .skipped: "skipped"
        }
    }

    var value: Value {
        var members: [String: Value] = [
            "case": .string(name), "about": .string(about), "result": .string(word.lowercased()),
            "seconds": .number(seconds.rounded(decimals: 3)),
        ]
        switch outcome {
        case .passed: break
        case .skipped(let why): members["why"] = .string(why)
        case .failed(let fault):
            members["why"] = .string(fault.why)
            for (name, text) in fault.details { members[name] = .string(text) }
        }
        return .object(members)
    }
}

/// All results for one plugin, in a form for people and one for programs.
package struct ConformanceReport: Sendable {
    package let plugin: String
    package let file: String
    package let results: [ConformanceResult]

    package init(plugin: String, file: String, results: [ConformanceResult]) {
        (self.plugin, self.file, self.results) = (plugin, file, results)
    }

    package var failed: [ConformanceResult] {
        results.filter { if case .failed = $0.outcome { true } else { false } }
    }

    package var passed: Int { results.count { $0.outcome == .passed } }

    package var json: String {
        Value.object([
            "plugin": .string(plugin), "file": .string(file), "passed": .integer(Int64(passed)),
            "failed": .integer(Int64(failed.count)),
            "skipped": .integer(Int64(results.count - passed - failed.count)),
            "cases": .array(results.map(\.value)),
        ]).json(pretty: true)
    }

    /// What kept cases from passing. Each cause occurs once, with the cases that it stopped and the fault of the first,
    /// which is nil if they were skipped.
    private var causes: [(why: String, fault: ConformanceFault?, names: [String])] {
        var found: [(why: String, fault: ConformanceFault?, names: [String])] = []
        for result in results {
            let (why, fault): (String, ConformanceFault?)
            switch result.outcome {
            case .passed: continue
            case .skipped(let reason): (why, fault) = (reason, nil)
            case .failed(let failed): (why, fault) = (failed.cause ?? failed.why, failed)
            }
            if let index = found.firstIndex(where: { $0.why == why && ($0.fault == nil) == (fault == nil) }) {
                found[index].names.append(result.name)
            } else {
                found.append((why, fault, [result.name]))
            }
        }
        return found
    }

    /// One line per case, then what failed and why.
    package func table(for terminal: Terminal) -> String {
        var table = Table([.init("Case"), .init("Result"), .number("Seconds", givesWay: 1), .init("Asks")])
        for result in results {
            let tenths = Int((result.seconds * 10).rounded())
            table.add([result.name, result.word, "\(tenths / 10).\(tenths % 10)", result.about])
        }
        var text = table.render(for: terminal)
        for (why, fault, names) in causes {
            let all = names.joined(separator: ", ")
            guard let fault else {
                text += "\n\(all) \(names.count == 1 ? "was" : "were") skipped: \(why)\n"
                continue
            }
            text += "\n\(terminal.styled("\(all) failed", .bold)): \(names.count == 1 ? fault.why : why)\n"
            for (name, line) in fault.details {
                text += "  \(name)\(String(repeating: " ", count: 9 - name.count))\(line)\n"
            }
        }
        return text + "\n\(plugin): \(passed) of \(results.count) cases passed\n"
    }
}
