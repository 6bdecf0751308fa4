/// A moment as a person writes it: a date, a local date and time, or ISO 8601 with an offset.
package struct ZoneMoment: Sendable, Equatable {
    private enum Form: Sendable, Equatable {
        case instant(Instant)
        /// Microseconds since 1970 as if local time were UTC.
        case local(Int64)
    }

    private let form: Form
    /// The date, if nothing else was written.
    package let date: LocalDay?

    /// Reads `2025-03-30` (the first instant of that date), `2025-03-30T14:00`, `2025-03-30T14:00:30`, and with an
    /// offset or `Z`; nil for anything else.
    package init?(_ text: String) {
        date = LocalDay(text)
        if let day = date {
            form = .local(ZoneTimeline.localStart(of: day))
        } else if let local = InstantText.parse(text + "Z") ?? InstantText.parse(text + ":00Z") {
            form = .local(local.microseconds)
        } else if let instant = InstantText.parse(text) ?? Self.withoutSeconds(text) {
            form = .instant(instant)
        } else {
            return nil
        }
    }

    /// The instant, taking local time to be that of `zone`. A time that the clock skips means the moment when the clock
    /// is changed; if a time occurs twice, the first occurrence counts.
    /// - Throws: `ZoneError`.
    package func instant(in zone: String) throws -> Instant { instant(on: try ZoneTimeline(zone: zone)) }

    /// The same as above, but taking local time to be that of the zone in force at the time.
    package func instant(on timeline: ZoneTimeline) -> Instant {
        switch form {
        case .instant(let instant): instant
        case .local(let local):
            Self.first(of: local, on: timeline) ?? Instant(microseconds: local)
        }
    }

    /// When the clock first shows that time or a later one; a zone may skip a whole date.
    private static func first(of local: Int64, on timeline: ZoneTimeline) -> Instant? {
        for later in 0...3 {
            let start = local + Int64(later) * ZoneTimeline.dayLength
            let ranges = timeline.offsets.ranges(ofLocal: start..<start + ZoneTimeline.dayLength)
            if let range = ranges.first { return range.lowerBound }
        }
        return nil
    }

    /// `2025-03-30T14:00+02:00`.
    private static func withoutSeconds(_ text: String) -> Instant? {
        guard let time = text.firstIndex(where: { $0 == "T" || $0 == "t" }),
            let offset = text[time...].firstIndex(where: { "+-Zz".contains($0) })
        else { return nil }
        return InstantText.parse(text[..<offset] + ":00" + text[offset...])
    }
}

extension ZonePlan {
    /// The moment that the person means. Local time is that of the zone in force just before that moment; an entry that
    /// begins at that very moment isn't in force yet.
    package static func instant(of moment: ZoneMoment, in parts: [Part]) throws -> Instant {
        // So if a person repeats the displayed moment of an entry, that entry is meant.
        for (before, part) in zip(parts, parts.dropFirst())
        where try part.origin == .added && moment.instant(in: before.zone) == part.from { return part.from }
        for (index, part) in parts.enumerated().reversed() {
            let instant = try moment.instant(in: part.zone)
            if index == 0 || instant > part.from { return instant }
        }
        return .epoch
    }
}
