import HealthModel
import HealthStore
import Logging
import Protocol
import Terminal

/// `healthbus conflicts`: what arrived under a sample's UUID but with different content, beside the sample that stays.
/// It is a view of the quarantine, with the same numbers.
package struct ConflictsReport {
    package struct Entry: Sendable, Equatable {
        package var number: Int64
        package var user: String
        /// The file or request that brought it last, as the quarantine names it.
        package var origin: String
        package var seen: Int64
        package var conflict: RecordConflict

        /// nil for what is in quarantine for another reason.
        package init?(_ row: QuarantinedRow) {
            guard row.reason == RecordConflict.reason, case .input(let raw)? = row.record,
                let conflict = RecordConflict(json: raw)
            else { return nil }
            (number, user, origin, seen) = (row.number, row.user, row.source, row.seen)
            self.conflict = conflict
        }
    }

    package let entries: [Entry]
    /// How many there are in total.
    package let count: Int

    /// Each is requested separately: any beyond these are only counted.
    package static let limit = 500

    package init(_ stack: Stack) throws {
        let all = try QuarantineReport(stack, MendSelection(reason: RecordConflict.reason)).entries
        count = all.count
        entries = try all.prefix(Self.limit).flatMap { entry in
            try QuarantineReport(stack, MendSelection(numbers: [entry.number]), isWhole: true).entries
                .compactMap(Entry.init)
        }
    }

    /// - Parameter count: the total, if `entries` are only the first.
    package init(entries: [Entry], count: Int? = nil) {
        self.entries = entries
        self.count = count ?? entries.count
    }

    package var value: Value {
        .array(
            entries.map { entry in
                let conflict = entry.conflict
                return [
                    "id": .integer(entry.number), "user": .string(entry.user), "type": .string(conflict.type),
                    "uuid": .string(conflict.uuid), "source": .string(conflict.source),
                    "kept": conflict.kept.map(Self.value) ?? .null, "other": Self.value(conflict.told),
                    "broughtBy": .string(entry.origin), "seen": .integer(entry.seen),
                ]
            })
    }

    private static func value(_ content: RecordConflict.Content) -> Value {
        [
            "start": .string(InstantText.iso8601(content.start)), "end": .string(InstantText.iso8601(content.end)),
            "value": content.value.map { .number($0) } ?? .null, "unit": .string(content.unit),
        ]
    }

    package func text(for terminal: Terminal) -> String {
        guard let first = entries.first?.number else { return "No conflicts.\n" }
        var table = Table([
            .number("Id"), .init("Type"), .init("Kept"), .init("Other"), .init("Source", givesWay: 2),
            .number("Seen", givesWay: 1),
        ])
        for entry in entries {
            let conflict = entry.conflict
            table.add([
                "\(entry.number)", QuarantineReport.short(conflict.type),
                conflict.kept.map { Self.words($0, terminal) } ?? "a sample of another type",
                Self.words(conflict.told, terminal), conflict.source,
                "\(entry.seen)",
            ])
        }
        let rest = count > entries.count ? "and \(HumanFormat.count(count - entries.count)) more\n" : ""
        return table.render(for: terminal) + rest
            + "\nThe samples stay as they are. "
            + "'healthbus conflicts resolve \(first) --keep other' takes the other content of the first instead, "
            + "'--keep stored' forgets it.\n"
    }

    /// "612 count at 2025-03-30T08:15"
    private static func words(_ content: RecordConflict.Content, _ terminal: Terminal) -> String {
        let value = content.value.map { "\(Value.number($0).json()) \(content.unit) at " } ?? ""
        return value + terminal.moment(content.start)
    }
}
