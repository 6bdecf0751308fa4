import Foundation

/// Which zone a person was in, over time. Travel is part of the data: every stage gets the same timeline, so every
/// stage sees the same days.
public struct ZoneTimeline: Sendable, Hashable {
    /// A zone and the moment from which it is in force.
    public struct Entry: Sendable, Hashable {
        /// When this zone comes into force; the first entry's zone also applies to all time before it.
        public var from: Instant
        /// IANA name, "Europe/Berlin".
        public var zone: String

        /// A zone that comes into force at an instant.
        public init(from: Instant, zone: String) { (self.from, self.zone) = (from, zone) }
    }

    /// In strictly ascending order of `from`, and never empty.
    public let entries: [Entry]
    /// The same information as stretches of constant offset; derived from `entries`, so it isn't compared for equality.
    let offsets: OffsetTimeline

    /// - Throws: `ZoneError` for a name that the zone database doesn't know, or if entries are missing or out of order.
    public init(_ entries: [Entry]) throws {
        guard !entries.isEmpty else { throw ZoneError.empty }
        for entry in entries where TimeZone(identifier: entry.zone) == nil { throw ZoneError.unknown(entry.zone) }
        for (a, b) in zip(entries, entries.dropFirst()) where a.from >= b.from { throw ZoneError.outOfOrder(b.zone) }
        self.entries = entries
        offsets = OffsetTimeline(entries)
    }

    /// One zone for all time.
    /// - Throws: `ZoneError` for a name that the zone database doesn't know.
    public init(zone: String) throws { try self.init([Entry(from: .distantPast, zone: zone)]) }

    public static func == (a: ZoneTimeline, b: ZoneTimeline) -> Bool { a.entries == b.entries }

    public func hash(into hasher: inout Hasher) { hasher.combine(entries) }
}

/// Why a list of zones can't form a timeline.
public enum ZoneError: Error, Equatable, CustomStringConvertible {
    case unknown(String)
    case empty
    case outOfOrder(String)

    public var description: String {
        switch self {
        case .unknown(let name): "unknown time zone '\(name)'; use an IANA name such as Europe/Berlin"
        case .empty: "a zone timeline needs at least one zone"
        case .outOfOrder(let name): "zone '\(name)' doesn't begin after the one before it"
        }
    }
}
