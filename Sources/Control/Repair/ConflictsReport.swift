import Client
import Configuration
import HealthModel
import HealthStore
import Inspection
import Protocol
import Terminal

/// `healthbus conflicts`: shows content that arrived under a sample's UUID but differs from the sample, next to the
/// stored sample. It is a view of the quarantine, with the same numbers. It also shows elements that destinations have
/// with different content under a version that was sent to them.
package struct ConflictsReport {
    package struct Entry: Sendable, Equatable {
        package var number: Int64
        package var user: String
        /// The file or request in which it last arrived, as the quarantine names it.
        package var origin: String
        package var seen: Int64
        package var conflict: RecordConflict

        /// nil for an entry that is in quarantine for another reason.
        package init?(_ row: QuarantinedRow) {
            guard row.reason == RecordConflict.reason, case .input(let raw)? = row.record,
                let conflict = RecordConflict(json: raw)
            else { return nil }
            (number, user, origin, seen) = (row.number, row.user, row.source, row.seen)
            self.conflict = conflict
        }
    }

    /// An element at a destination.
    package struct Delivered: Sendable, Equatable {
        /// The destination's instance.
        package var destination: String
        package var conflict: DeliveryConflict

        package init(destination: String, conflict: DeliveryConflict) {
            (self.destination, self.conflict) = (destination, conflict)
        }
    }

    package let entries: [Entry]
    /// The total number of such conflicts, including those beyond `limit`.
    package let count: Int
    package let delivered: [Delivered]

    /// Each entry is requested separately, so any beyond these are only counted.
    package static let limit = 500

    package init(_ stack: Stack) throws {
        let all = try QuarantineReport(stack, RepairSelection(reason: RecordConflict.reason)).entries
        try self.init(of: all.map(\.number), delivered: Self.delivered(stack)) { number in
            try QuarantineReport.read(stack, RepairSelection(numbers: [number]), isWhole: true).first
        }
    }

    /// - Parameter read: reads an entry; nil if it was settled meanwhile.
    package init(
        of numbers: [Int64], delivered: [Delivered] = [], read: (Int64) throws -> QuarantinedRow?
    ) rethrows {
        var entries: [Entry] = []
        var settled = 0
        for number in numbers.prefix(Self.limit) {
            // If the sample has the other content by now, there is nothing to decide.
            if let entry = try read(number).flatMap(Entry.init), entry.conflict.isOpen {
                entries.append(entry)
            } else {
                settled += 1
            }
        }
        self.init(entries: entries, count: numbers.count - settled, delivered: delivered)
    }

    /// - Parameter count: the total number, if `entries` has only the first ones.
    package init(entries: [Entry], count: Int? = nil, delivered: [Delivered] = []) {
        self.entries = entries
        self.count = count ?? entries.count
        self.delivered = delivered
    }

    private static func delivered(_ stack: Stack) throws -> [Delivered] {
        let reader = stack.reader()
        var found: [Delivered] = []
        for destination in stack.destinations {
            do {
                try reader.all(destination, { .conflicts(after: $0) }, next: \ConflictsPage.continue) {
                    found += $0.conflicts.map { Delivered(destination: destination.name, conflict: $0) }
                }
            } catch StageError.refused {
                // A process of an earlier release lists none.
            }
        }
        return found
    }

    package var value: Value {
        .array(
            delivered.map { entry in
                let conflict = entry.conflict
                return [
                    "id": .null, "user": .string(conflict.user), "destination": .string(entry.destination),
                    "metric": .string(conflict.metric), "element": .string(conflict.id),
                    "version": .integer(conflict.version), "seen": .integer(conflict.seen),
                    "firstSeen": .string(InstantText.iso8601(conflict.firstSeen)),
                    "lastSeen": .string(InstantText.iso8601(conflict.lastSeen)),
                ]
            }
                + entries.map { entry in
                    let conflict = entry.conflict
                    return [
                        "id": .integer(entry.number), "user": .string(entry.user), "type": .string(conflict.type),
                        "uuid": .string(conflict.uuid), "source": .string(conflict.source),
                        "kept": conflict.kept.map(Self.value) ?? .null, "other": Self.value(conflict.other),
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
        guard !entries.isEmpty || !delivered.isEmpty else { return "No conflicts.\n" }
        return [ownText(for: terminal), deliveredText(for: terminal)].compactMap { $0 }.joined(separator: "\n")
    }

    private func deliveredText(for terminal: Terminal) -> String? {
        guard let first = delivered.first else { return nil }
        var table = Table([
            .init("Destination"), .init("Metric"), .init("Element", givesWay: 2), .number("Version"),
            .init("Last seen"), .number("Seen", givesWay: 1),
        ])
        for entry in delivered.prefix(Self.limit) {
            let conflict = entry.conflict
            table.add([
                entry.destination, conflict.metric, conflict.id, "\(conflict.version)",
                String(InstantText.iso8601(conflict.lastSeen).prefix(16)), "\(conflict.seen)",
            ])
        }
        let rest = delivered.count - Self.limit
        return table.render(for: terminal) + (rest > 0 ? "and \(HumanFormat.count(rest)) more\n" : "")
            + "\nDestinations have these in the version sent to them, but with other content, which stays. "
            + "A newer version replaces it: 'healthbus verify --destination \(first.destination) --repair' makes one"
            + (delivered.allSatisfy { $0.destination == first.destination } ? ".\n" : " there.\n")
    }

    private func ownText(for terminal: Terminal) -> String? {
        guard let first = entries.first?.number else { return nil }
        var table = Table([
            .number("Id"), .init("Type"), .init("Kept"), .init("Other"), .init("Source", givesWay: 2),
            .number("Seen", givesWay: 1),
        ])
        for entry in entries {
            let conflict = entry.conflict
            table.add([
                "\(entry.number)", TypeName.short(conflict.type),
                conflict.kept.map { Self.words($0, of: conflict.type, terminal) } ?? "a sample of another type",
                Self.words(conflict.other, of: conflict.type, terminal), conflict.source,
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
    private static func words(_ content: RecordConflict.Content, of type: String, _ terminal: Terminal) -> String {
        let isFraction = HealthType.named(type).isFraction
        let value =
            content.value.map {
                "\(ShownNumber.exact(isFraction ? ShownFraction.percent($0) : $0)) \(content.unit) at "
            } ?? ""
        return value + terminal.moment(content.start)
    }
}
