import HealthModel

/// The dates of one type's samples, as its handler sees them: local days, or nights that end at an hour of the local clock.
public struct DayEdges: Sendable, Hashable {
    public let zones: ZoneTimeline
    /// Hour at which a night's window ends and the next begins; nil for local days.
    public let nightHour: Int?

    public init(zones: ZoneTimeline, nightHour: Int? = nil) {
        self.zones = zones
        self.nightHour = nightHour
    }

    /// The date of an instant, and when the stretch of it that holds the instant ends.
    func date(at instant: Instant) -> (day: Int, end: Instant) {
        let local = zones.day(of: instant)
        guard let nightHour else {
            let range = zones.ranges(of: local).first { $0.contains(instant) }
            return (local.number, range?.upperBound ?? instant + 1)
        }
        for shift in [0, 1, -1] {
            let day = local.adding(days: shift)
            if let range = zones.window(of: day, endingAtHour: nightHour).first(where: { $0.contains(instant) }) {
                return (day.number, range.upperBound)
            }
        }
        return (local.number, instant + 1)
    }
}
