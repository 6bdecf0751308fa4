import Configuration
import HealthModel
import Logging
import Terminal

/// Something that is wrong, or may be: what, where, and what to do.
package struct Finding: Sendable, Equatable {
    package enum Severity: String, Sendable, CaseIterable, Comparable {
        /// For information; nothing needs to be done.
        case note
        /// It works, but not as it should.
        case warning
        /// It doesn't work.
        case error

        package static func < (a: Severity, b: Severity) -> Bool { a.rank < b.rank }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    package var severity: Severity
    /// A file, a folder or an instance.
    package var subject: String
    /// The key in a file that the finding concerns.
    package var key: String?
    package var line: Int?
    /// For a mistake that doesn't concern any key.
    package var column: Int?
    package var what: String
    package var remedy: String
    /// Other problems that result from this one; they aren't reported separately, since fixing this fixes them too.
    package var consequences: [String] = []
    /// The subjects whose failure leads to this, likeliest first; each counts only if its failure is found too.
    var causes: [String] = []
    /// Whether findings that name its subject as their cause are reported with it.
    var isCause = false
    /// Whether this only describes how the stack is set up: nothing waits, and it won't pass.
    var isStanding = false
    /// Whether this keeps an instance from starting, although its program's own check doesn't cover it.
    var keepsFromStarting = false
    /// What it is in a list of what waits.
    package var kind = WaitList.Entry.Kind.finding

    package init(
        _ severity: Severity, _ subject: String, key: String? = nil, line: Int? = nil, _ what: String, remedy: String
    ) {
        (self.severity, self.subject, self.key, self.line) = (severity, subject, key, line)
        (self.what, self.remedy) = (what, remedy)
    }

    /// What is wrong with a configuration.
    package init(_ error: ConfigurationError) {
        self.init(
            .error, error.file, key: error.key.isEmpty ? nil : error.key, line: error.line, error.reason,
            remedy: Self.remedy(error))
        column = error.column
    }

    private static func remedy(_ error: ConfigurationError) -> String {
        if error.column != nil { return "correct that place first; what follows it can't be read until then" }
        if error.key.isEmpty { return "check the path and the file" }
        return error.file == ConfigurationError.environment
            ? "set it to that, or unset it" : "correct it in the file; docs/configuration.md lists the options"
    }

    func because(of causes: [String?]) -> Finding { with(\.causes, causes.compactMap { $0 }) }
    func asCause(because causes: [String?] = []) -> Finding { because(of: causes).with(\.isCause, true) }
    func standing() -> Finding { with(\.isStanding, true) }
    func keepingFromStarting() -> Finding { with(\.keepsFromStarting, true) }
    func listed(as kind: WaitList.Entry.Kind) -> Finding { with(\.kind, kind) }

    private func with<Member>(_ property: WritableKeyPath<Finding, Member>, _ value: Member) -> Finding {
        var finding = self
        finding[keyPath: property] = value
        return finding
    }

    /// "stack.json:7: 'instances.steps.plugin'", or only the subject.
    var place: String {
        subject + (line.map { ":\($0)" } ?? "") + (column.map { ":\($0)" } ?? "") + (key.map { ": '\($0)'" } ?? "")
    }

    /// The place, and what is wrong there.
    var sentence: String {
        place.isEmpty ? what : key == nil ? "\(place): \(what)" : "\(place) \(what)"
    }

    var value: Value {
        [
            "severity": .string(severity.rawValue), "subject": .string(subject), "key": Value(key),
            "line": Value(line), "column": Value(column), "what": .string(what), "remedy": .string(remedy),
            "consequences": .array(consequences.map { .string($0) }),
        ]
    }
}

extension Finding? {
    /// One finding or none, among others.
    var list: [Finding] { map { [$0] } ?? [] }
}

/// All findings, the worst first.
package struct Findings: Sendable {
    package let list: [Finding]

    package init(_ list: [Finding]) {
        self.list = list.enumerated()
            .sorted { ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset) }.map(\.element)
    }

    package var worst: Finding.Severity? { list.first?.severity }

    /// The same findings, with commands that refer to the examined stack.
    package func addressed(_ advice: Advice) -> Findings {
        Findings(
            list.map { finding in
                var finding = finding
                (finding.what, finding.remedy) = (advice.addressed(finding.what), advice.addressed(finding.remedy))
                finding.consequences = finding.consequences.map(advice.addressed)
                return finding
            })
    }

    /// `[{severity, subject, key, line, column, what, remedy, consequences}]`.
    package var json: String { Value.array(list.map(\.value)).json(pretty: true) }

    /// - Parameter allWell: the text when nothing was found.
    package func text(for terminal: Terminal, allWell: String) -> String {
        guard !list.isEmpty else { return allWell + "\n" }
        let blocks = list.map { finding -> String in
            let style: Terminal.Style =
                switch finding.severity {
                case .error: .red
                case .warning: .yellow
                case .note: .dim
                }
            return "\(terminal.styled(finding.severity.rawValue, style)): \(finding.sentence)\n"
                + finding.consequences.map { "  so: \($0)\n" }.joined()
                + "  do: \(finding.remedy)\n"
        }
        let counts = Finding.Severity.allCases.reversed().compactMap { severity -> String? in
            let count = list.count { $0.severity == severity }
            return count == 0 ? nil : "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
        }
        return blocks.joined() + counts.joined(separator: ", ") + "\n"
    }
}
