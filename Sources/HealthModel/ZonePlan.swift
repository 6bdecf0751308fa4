/// Everything that decides where a person's days begin, and the timeline that results from it.
///
/// The zone that a person has set counts where nothing else is known. A zone that a person has added counts from its
/// moment until the next stay. A stay that is known from samples (`HKTimeZone`) counts from its first observed hour
/// until another clock is observed or an added zone begins; at the same moment, the added zone counts. If a stay's
/// clock agrees with the timeline, it adds no entry. This is a pure function: the same entries and observations give
/// the same timeline, whatever order they arrive in.
package struct ZonePlan: Sendable, Equatable {
    /// The zone in which days begin when nothing else is known.
    package var home: String
    /// Zones that a person has added, each with the moment at which it begins; in any order, one per moment.
    package var added: [ZoneTimeline.Entry]
    package var observed: [ZoneObservation]

    package init(home: String, added: [ZoneTimeline.Entry] = [], observed: [ZoneObservation] = []) {
        (self.home, self.added, self.observed) = (home, added, observed)
    }

    /// Where an entry of a timeline comes from.
    package enum Origin: String, Codable, Sendable, CaseIterable {
        case set, added, seen
    }

    package struct Part: Sendable, Hashable {
        /// The time from which the entry is in force; `.distantPast` for the first entry.
        package var from: Instant
        package var zone: String
        package var origin: Origin

        package init(from: Instant, zone: String, origin: Origin) {
            (self.from, self.zone, self.origin) = (from, zone, origin)
        }
    }

    /// The timeline's entries with their origins, in strictly ascending order.
    package var parts: [Part] {
        var clocks = ZoneClocks()
        let stays = clocks.stays(observed)
        var coming = added.sorted { $0.from < $1.from }[...]
        var parts = [Part(from: .distantPast, zone: home, origin: .set)]
        var explicit = home
        for (index, stay) in stays.enumerated() {
            while let next = coming.first, next.from <= stay.start {
                coming.removeFirst()
                parts.append(Part(from: next.from, zone: next.zone, origin: .added))
                explicit = next.zone
            }
            if parts.last?.from == stay.start { continue }
            let end = min(
                index + 1 < stays.count ? stays[index + 1].start : .distantFuture,
                coming.first?.from ?? .distantFuture)
            let hours = stay.hours.prefix { ZoneObservation.start(ofHour: $0) < end }
            // For a person who is back home, the home zone applies, whatever name a device uses for the same clock.
            let zone = clocks.agree(explicit, stay.zone, hours) ? explicit : stay.zone
            if let now = parts.last?.zone, clocks.agree(now, zone, hours) { continue }
            parts.append(Part(from: stay.start, zone: zone, origin: .seen))
        }
        parts += coming.map { Part(from: $0.from, zone: $0.zone, origin: .added) }
        return Self.newest(parts)
    }

    /// The maximum number of stays in a timeline; the newest ones are kept. Nobody travels that much. A timeline is
    /// sent whole in one message.
    static let seenLimit = 4000

    private static func newest(_ parts: [Part]) -> [Part] {
        var tooMany = parts.count { $0.origin == .seen } - seenLimit
        guard tooMany > 0 else { return parts }
        return parts.filter { part in
            guard part.origin == .seen, tooMany > 0 else { return true }
            tooMany -= 1
            return false
        }
    }

    /// - Throws: `ZoneError` for a name that the zone database doesn't know.
    package func timeline() throws -> ZoneTimeline {
        try ZoneTimeline(parts.map { ZoneTimeline.Entry(from: $0.from, zone: $0.zone) })
    }
}

/// `[from, zone, origin]`; a null `from` stands for all time before the next entry.
extension ZonePlan.Part: Codable {
    package init(from decoder: any Decoder) throws {
        var parts = try decoder.unkeyedContainer()
        let from = try parts.decodeNil() ? Instant.distantPast : parts.decode(Instant.self)
        self.init(
            from: from, zone: try parts.decode(String.self), origin: try parts.decode(ZonePlan.Origin.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var parts = encoder.unkeyedContainer()
        if from == .distantPast { try parts.encodeNil() } else { try parts.encode(from) }
        try parts.encode(zone)
        try parts.encode(origin)
    }
}
