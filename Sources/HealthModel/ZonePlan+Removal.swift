/// Which of the added zones a person means to remove.
///
/// An entry's local time is shown by the clock of the entry before it, so it changes when that earlier entry is
/// removed. The entry's instant doesn't change, and its date changes by a day at most.
extension ZonePlan {
    /// The added entries that a moment may mean, in order: the one that begins at exactly that moment or, if there is
    /// none, all that begin on that date, whether by the previous entry's clock, by their own, or in UTC.
    /// - Throws: `ZoneError`.
    package static func added(at moment: ZoneMoment, in parts: [Part]) throws -> [Part] {
        let from = try instant(of: moment, in: parts)
        if let exact = parts.first(where: { $0.from == from && $0.origin == .added }) { return [exact] }
        guard let date = moment.date else { return [] }
        return try zip(parts, parts.dropFirst()).filter { before, part in
            guard part.origin == .added else { return false }
            return try [before.zone, part.zone, "UTC"].contains { zone in
                try ZoneTimeline(zone: zone).day(of: part.from) == date
            }
        }.map { $1 }
    }

    /// The added entry that begins nearest to a moment; nil if no entry was added.
    /// - Throws: `ZoneError`.
    package static func nearestAdded(to moment: ZoneMoment, in parts: [Part]) throws -> Part? {
        let from = try instant(of: moment, in: parts)
        return parts.filter { $0.origin == .added }.min {
            ($0.from.microseconds - from.microseconds).magnitude < ($1.from.microseconds - from.microseconds).magnitude
        }
    }
}
