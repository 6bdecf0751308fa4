import Inspection
import Protocol
import Terminal

extension DoublesReport {
    /// What a report is about.
    package enum Action: String, Sendable, CaseIterable { case list, repair, undo }

    /// What was found, or what has changed, by user; and what to do next.
    package func text(_ action: Action) -> String {
        guard !isEmpty else {
            return action == .undo ? "Nothing had to be taken back." : "Nothing is stored twice."
        }
        var lines = [headline(action)]
        for user in users where !user.isEmpty {
            lines.append("\(Table.inOneLine(user.user)):")
            lines += user.renamed.map { line($0, action) } + user.counts
        }
        return (lines + [Self.next(action, isTrial: dryRun == true)]).joined(separator: "\n")
    }

    private func headline(_ action: Action) -> String {
        let count = HumanFormat.count(Int(samples), "sample")
        let isOne = samples == 1
        switch action {
        case .undo: return "Took the last repair back: \(count) \(isOne ? "counts" : "count") as before it."
        case .repair where dryRun != true:
            return "\(count) that \(isOne ? "was" : "were") stored twice \(isOne ? "counts" : "count") once now."
        case .list, .repair: return "\(count) \(isOne ? "is" : "are") stored twice."
        }
    }

    private func line(_ renamed: ImportReport.Renamed, _ action: Action) -> String {
        let names = "  '\(Table.inOneLine(renamed.from))' and '\(Table.inOneLine(renamed.to))' are"
        let count = HumanFormat.count(Int(renamed.samples), "sample")
        guard action != .undo else { return names + " two sources again: \(count)" }
        let isPast = action == .repair && dryRun != true
        let verb = renamed.samples == 1 ? (isPast ? "was" : "is") : (isPast ? "were" : "are")
        return names + " one source: \(count) \(verb) stored twice"
    }

    private static func next(_ action: Action, isTrial: Bool) -> String {
        switch action {
        case .undo: "Destinations get the changes."
        case .repair where !isTrial: "Destinations get the changes. 'healthbus doubles undo' takes it back."
        case .list, .repair: "'healthbus doubles repair' counts them once."
        }
    }
}

extension DoublesReport.User {
    /// A line for each type.
    fileprivate var counts: [String] {
        Set(replaced.keys).union(merged.keys).sorted().compactMap { type in
            let parts = [(merged[type] ?? 0, "under two names"), (replaced[type] ?? 0, "condensed into others")]
                .compactMap { $0 > 0 ? "\(HumanFormat.count(Int($0))) \($1)" : nil }
            return parts.isEmpty ? nil : "  \(TypeName.bare(type)): " + parts.joined(separator: ", ")
        }
    }
}
