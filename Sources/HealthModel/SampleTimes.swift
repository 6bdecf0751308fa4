/// The times that a sample can have, whatever its type. What lies outside is kept apart, and makes no day dirty.
///
/// Whoever reads samples holds to this too: a store of an earlier release may have rows that would be refused today.
package enum SampleTimes {
    /// 1900-01-01, wherever on Earth. Measurements of a childhood are typed in today; nothing is older than the oldest person.
    package static let earliest = start(of: LocalDay(year: 1899, month: 12, day: 31))
    /// 2200-01-01: beyond any clock that is merely wrong.
    package static let latest = start(of: LocalDay(year: 2200, month: 1, day: 1))
    /// What Apple calls the distant future, 4001-01-01: the end of a sample that goes on (`hasUndeterminedDuration`).
    package static let goesOn = start(of: LocalDay(year: 4001, month: 1, day: 1))
    /// The longest sample of any type, microseconds: twelve years, more than an intrauterine device stays.
    package static let longest = 4383 * day

    /// A clock that shows an earlier time than this release can run at isn't set.
    static let firstCredible = start(of: LocalDay(year: 2026, month: 7, day: 1))
    /// HealthKit restricts durations since iOS 13.
    static let restricted = start(of: LocalDay(year: 2019, month: 9, day: 19))
    /// Microseconds.
    static let day = 86_400 * Instant.microsecondsPerSecond

    /// The latest time that a sample can have now: a day ahead, for clocks and zones. A clock that isn't set says nothing.
    package static func latest(now: Instant?) -> Instant {
        guard let now, now >= firstCredible else { return latest }
        return min(latest, Instant(microseconds: now.microseconds + day))
    }

    /// Until when a sample counts in days and figures: its end. What goes on, or lasts longer than anything can, is of the moment when it began.
    /// Plain microseconds, as rows and columns have them.
    package static func countedEnd(start: Int64, duration: Int64) -> Int64 {
        (0...longest).contains(duration) ? start &+ duration : start
    }

    /// When a date begins, in no zone.
    package static func start(of day: LocalDay) -> Instant {
        Instant(microseconds: Int64(day.number) * Self.day)
    }

    /// Whether anything may be counted that begins then.
    package static func mayStart(_ start: Instant) -> Bool { (earliest...latest).contains(start) }
}
