import Client
import Configuration
import Foundation
import HealthModel
import HealthPush
import Logging
import Protocol
import StageKit
import Terminal

/// The quarantine: a list for people and programs, and one record in full.
package struct QuarantineReport {
    /// As returned by the observer, oldest first.
    package let entries: [QuarantinedRow]

    package init(entries: [QuarantinedRow]) { self.entries = entries }

    /// - Throws: `Failure` if a selected number belongs to no entry.
    package init(_ stack: Stack, _ selection: RepairSelection, isWhole: Bool = false) throws {
        entries = try Self.read(stack, selection, isWhole: isWhole)
        try Self.check(
            selection, found: entries.map(\.number), what: "quarantined entry", list: "healthbus quarantine list")
    }

    /// The selected entries, without those that aren't in quarantine any more.
    package static func read(_ stack: Stack, _ selection: RepairSelection, isWhole: Bool) throws -> [QuarantinedRow] {
        var entries: [QuarantinedRow] = []
        try stack.reader().all(
            try stack.instance(.observer),
            { .quarantined(selection, record: isWhole ? true : nil, after: $0) }, next: \QuarantinedPage.continue
        ) { entries += $0.entries }
        return entries
    }

    package static func check(_ selection: RepairSelection, found: [Int64], what: String, list: String) throws {
        let known = Set(found)
        guard let missing = selection.numbers?.first(where: { !known.contains($0) }) else { return }
        throw Failure("there is no \(what) \(missing)", hint: "'\(list)' shows them all")
    }

    package var value: Value { .array(entries.map(Self.readable)) }

    /// The entry with its times as ISO 8601, and its number as `id`.
    private static func readable(_ entry: QuarantinedRow) -> Value {
        var members = Value(entry).object ?? [:]
        members["id"] = members.removeValue(forKey: "number")
        members["start"] = Value(entry.start.map { InstantText.iso8601($0) })
        members["end"] = Value(entry.end.map { InstantText.iso8601($0) })
        if case .sample(let sample)? = entry.record, let created = sample.created {
            var record = Value(sample).object ?? [:]
            record["created"] = .string(InstantText.iso8601(created))
            members["record"] = .object(record)
        }
        return .object(members)
    }

    /// - Parameter others: returns how many entries weren't selected; called only if none was selected.
    package func table(for terminal: Terminal, others: () throws -> Int = { 0 }) rethrows -> String {
        guard !entries.isEmpty else { return Self.none("Nothing is quarantined.", others: try others()) }
        var table = Table([
            .number("Id"), .init("Type"), .init("When", givesWay: 3), .init("Reason"), .number("Seen", givesWay: 2),
            .init("From", givesWay: 1),
        ])
        for entry in entries {
            table.add([
                "\(entry.number)", TypeName.short(entry.type ?? "?"),
                entry.start.map { terminal.moment($0) } ?? "", entry.reason, "\(entry.seen)",
                Self.place(of: entry),
            ])
        }
        return table.render(for: terminal)
    }

    /// The text for an empty list.
    package static func none(_ nothing: String, others: Int) -> String {
        guard others > 0 else { return nothing + "\n" }
        let are = others == 1 ? "other is" : "others are"
        return "None of these; \(HumanFormat.count(others)) \(are) there without the filter.\n"
    }

    /// "export.xml:12" for an import, "/v1/samples, item 2" for a request.
    private static func place(of entry: QuarantinedRow) -> String {
        if isPushed(entry) { return entry.source + (entry.line > 0 ? ", item \(entry.line)" : "") }
        return (entry.source as NSString).lastPathComponent + (entry.line > 0 ? ":\(entry.line)" : "")
    }

    private static func isPushed(_ entry: QuarantinedRow) -> Bool { WayIn.named(entry.source) != nil }

    /// One record, with one member per line.
    package var text: String {
        entries.map { entry in
            let shown = Self.readable(entry)
            var lines: [(String, Value)] = [
                ("id", shown["id"]), ("type", shown["type"]), ("reason", shown["reason"]), ("from", shown["start"]),
                ("to", shown["end"]), (Self.isPushed(entry) ? "pushed to" : "import", shown["source"]),
                (Self.isPushed(entry) ? "item" : "line", shown["line"]), ("seen", shown["seen"]),
                ("user", shown["user"]),
            ]
            for (name, value) in Value.inOrder(Value(entry.record).object ?? [:]) where name != "created" {
                lines.append((name == "id" ? "sample" : name, value))
            }
            return lines.filter { !$0.1.isNull && $0.1.string != "" }.map { name, value in
                name + String(repeating: " ", count: max(1, 15 - name.count)) + (value.string ?? value.json()) + "\n"
            }.joined()
        }.joined(separator: "\n")
    }
}
