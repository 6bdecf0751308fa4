import HealthModel

/// The dates of one type's samples, as its handler sees them: local days, or nights that end at an hour of the local
/// clock.
package struct DayEdges: Sendable, Hashable {
    package let zones: ZoneTimeline
    private let window: HandlerWindow

    /// - Parameter endHour: the hour at which a date's window ends and the next begins; 24 for local days.
    package init(zones: ZoneTimeline, endHour: Int = 24) {
        self.zones = zones
        window = HandlerWindow(endHour: endHour)
    }

    /// The date that an instant belongs to, and the end of that date's range that contains the instant.
    func date(at instant: Instant) -> (day: Int, end: Instant) {
        let local = zones.day(of: instant)
        for shift in [0, 1, -1] {
            let day = local.adding(days: shift)
            if let range = zones.window(of: day, window).first(where: { $0.contains(instant) }) {
                return (day.number, range.upperBound)
            }
        }
        return (local.number, Instant(microseconds: instant.microseconds + 1))
    }
}
