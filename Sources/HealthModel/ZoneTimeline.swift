import Foundation

/// Which zone a person's day was in, over time. Travel is data: the same timeline reaches every stage, so every stage sees the same days.
package struct ZoneTimeline: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        /// From when this zone holds; the first entry holds for all time before it too.
        package var from: Instant
        /// IANA name, "Europe/Berlin".
        package var zone: String

        package init(from: Instant, zone: String) {
            self.from = from
            self.zone = zone
        }
    }

    /// Strictly rising by `from`, never empty.
    package let entries: [Entry]
    /// The same as stretches of constant offset; follows from `entries`, so it takes no part in equality.
    let offsets: OffsetTimeline

    /// - Throws: `ZoneError` for a name that the zone database doesn't know, or entries that are empty or out of order.
    package init(_ entries: [Entry]) throws {
        guard let first = entries.first else { throw ZoneError.empty }
        for entry in entries where TimeZone(identifier: entry.zone) == nil { throw ZoneError.unknown(entry.zone) }
        for (a, b) in zip(entries, entries.dropFirst()) where a.from >= b.from { throw ZoneError.outOfOrder(b.zone) }
        _ = first
        self.entries = entries
        offsets = OffsetTimeline(entries)
    }

    package init(zone: String) throws { try self.init([Entry(from: .min, zone: zone)]) }

    package static func == (a: ZoneTimeline, b: ZoneTimeline) -> Bool { a.entries == b.entries }

    package func hash(into hasher: inout Hasher) { hasher.combine(entries) }
}

package enum ZoneError: Error, Equatable, CustomStringConvertible {
    case unknown(String)
    case empty
    case outOfOrder(String)

    package var description: String {
        switch self {
        case .unknown(let name): "unknown time zone '\(name)'; use an IANA name such as Europe/Berlin"
        case .empty: "a zone timeline needs at least one zone"
        case .outOfOrder(let name): "zone '\(name)' doesn't begin after the one before it"
        }
    }
}
