import HealthModel

extension ZoneTimeline {
    /// When the local clock next shows the given minute of the day, after `now`.
    package func next(minute: Int, after now: Instant) -> Instant? {
        let past = Duration.seconds(minute % 60 * 60)
        return next(hour: minute / 60, after: now - past).map { $0 + past }
    }

    /// When the local clock next shows the given full hour, after `now`. It follows the calendar, so a day of 23 or 25
    /// hours doesn't shift it.
    func next(hour: Int, after now: Instant) -> Instant? {
        let today = day(of: now)
        // Midnight counts as the end of the previous day.
        let window = HandlerWindow(endHour: hour == 0 ? 24 : hour)
        // Looks some days ahead: a flight across the date line may skip a day.
        return (-1...3).lazy.compactMap { self.window(of: today.adding(days: $0), window).last?.upperBound }
            .first { $0 > now }
    }

    /// The next time it is one minute past midnight (or one minute past the day's first instant), when the previous day
    /// is over.
    package func nextDayIsOver(after now: Instant) -> Instant? {
        let today = day(of: now)
        let minute = Duration.seconds(60)
        return (0...3).lazy.compactMap { self.ranges(of: today.adding(days: $0)).first.map { $0.lowerBound + minute } }
            .first { $0 > now }
    }
}
