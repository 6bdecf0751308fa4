import Client
import Configuration
import DeliveryKit
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import StageKit
import Terminal

/// What the destinations wouldn't accept: a list for people and programs, and one letter with the body that would be sent
/// for it now.
package struct DeadLetterReport {
    package struct Entry: Sendable {
        /// The name of the uploader that it belongs to.
        package var stage: String
        package var letter: DeadLetter
    }

    package let entries: [Entry]
    let stack: Stack
    /// Whether the list names each letter's uploader.
    private let namesStage: Bool

    /// - Throws: `Failure` if a selected number belongs to no dead letter.
    /// - Parameter destination: the destination whose letters to list; nil for all destinations.
    package init(_ stack: Stack, _ selection: RepairSelection, of destination: StackConfiguration.Instance? = nil)
        throws
    {
        self.stack = stack
        let destinations = destination.map { [$0] } ?? stack.destinations
        namesStage = stack.destinations.count > 1
        let reader = stack.reader()
        var entries: [Entry] = []
        for uploader in destinations {
            try reader.all(uploader, { .letters(selection, after: $0) }, next: \LettersPage.continue) {
                entries += $0.letters.map { Entry(stage: uploader.name, letter: $0) }
            }
        }
        self.entries = entries
        try QuarantineReport.check(
            selection, found: entries.map(\.letter.number), what: "dead letter", list: "healthbus dead-letters list")
    }

    /// Who refused, in the words of an error: "the backend", "the server".
    package static func refuser(_ destination: StackConfiguration.Instance) -> String {
        "the \(destination.manifest.destination?.word ?? destination.name)"
    }

    /// What to report after a retry; nil if every letter was accepted, or replaced by a newer version.
    ///
    /// - Parameters:
    ///   - sent: the numbers of the letters that were sent again. One that is refused again keeps its number.
    ///   - left: the numbers of all letters that the destination has now.
    ///   - isAll: whether all of its letters were sent.
    ///   - destination: its name, if the stack has several.
    package static func refusedAgain(
        _ sent: [Int64], left: [Int64], isAll: Bool, by refuser: String, destination: String? = nil
    ) -> Failure? {
        let refused = Set(sent).intersection(left).sorted()
        guard !refused.isEmpty else { return nil }
        let whose = destination.map { " --destination \($0)" } ?? ""
        let why = "'healthbus dead-letters list\(whose)' says why; "
        // Only these are offered to be given up, and only as many as a person can check.
        let listed = refused.count <= 10
        let which = (isAll ? "--all" : refused.map { "\($0)" }.joined(separator: " ")) + whose
        return Failure(
            "\(refuser) still refuses \(refused.count)",
            hint: isAll || listed
                ? why + "'healthbus dead-letters drop \(which)' gives them up"
                : why + "'dead-letters drop' gives up those whose ids you name")
    }

    func readable(_ entry: Entry) -> [String: Value] {
        var members = Value(entry.letter).object ?? [:]
        // Only the backend's contract has such paths.
        let kind = stack.configuration.instance(entry.stage)?.manifest.destination?.kind
        if kind != .backend { members["path"] = .null }
        members["stage"] = .string(entry.stage)
        members["element"] = members["id"]
        members["id"] = members.removeValue(forKey: "number")
        members["firstTried"] = .string(InstantText.iso8601(entry.letter.firstTried))
        members["lastTried"] = .string(InstantText.iso8601(entry.letter.lastTried))
        return members
    }

    package var value: Value { .array(entries.map { .object(readable($0)) }) }

    /// - Parameter others: returns how many letters weren't selected; called only if none was selected.
    package func table(
        for terminal: Terminal, now: Date, others: () throws -> Int = { 0 }
    ) rethrows -> String {
        guard !entries.isEmpty else {
            return QuarantineReport.none("There are no dead letters.", others: try others())
        }
        let stage: [Table.Column] = namesStage ? [.init("Destination")] : []
        var table = Table(
            stage + [
                .number("Id"), .init("Metric"), .init("Element", givesWay: 3), .number("Status", givesWay: 4),
                .init("Reason"), .number("Tries", givesWay: 2), .init("Last tried", givesWay: 1),
            ])
        for entry in entries {
            let letter = entry.letter
            table.add(
                (namesStage ? [entry.stage] : []) + [
                    "\(letter.number)", letter.metric, letter.id, letter.status.map { "\($0)" } ?? "", letter.reason,
                    "\(letter.tries)",
                    HumanFormat.relative(letter.lastTried, now: now, for: terminal),
                ])
        }
        return table.render(for: terminal) + Self.remark(on: entries.map(\.letter.reason))
    }

    /// Where to look for a reason that isn't in an answer's `refused`: the rest of an answer may hold health values.
    package static func remark(on reasons: [String]) -> String {
        reasons.contains { $0.hasPrefix(DeadLetter.unexplained) }
            ? "Where no reason is shown, the server's own words aren't kept, since they may contain values: its log says why.\n"
            : ""
    }
}

extension StackConfiguration {
    /// The metric under which a sample type, given with or without its prefix, is delivered; any other text is taken as
    /// a metric.
    package func metric(of text: String) -> String {
        guard !handlers.contains(where: { $0.family == text }) else { return text }
        let type = HealthType.allKnown.keys.first { $0 == text || $0.hasSuffix("Identifier" + text) }
        return type.map(family) ?? text
    }
}
