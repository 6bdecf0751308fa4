/// The times that a sample can have, whatever its type. A sample outside these limits goes into quarantine, and no day
/// is computed again for it.
///
/// Code that reads samples checks this too, because the store of an earlier release may hold rows that would be refused
/// today.
package enum SampleTimes {
    /// 1900-01-01, anywhere on Earth. Measurements from somebody's childhood may be typed in today; nothing is older
    /// than the oldest person.
    package static let earliest = start(of: LocalDay(year: 1899, month: 12, day: 31))
    /// 2200-01-01: later than the time shown by any clock that is merely wrong.
    package static let latest = start(of: LocalDay(year: 2200, month: 1, day: 1))
    /// Apple's distant future, 4001-01-01: the end of an ongoing sample (`hasUndeterminedDuration`).
    package static let goesOn = start(of: LocalDay(year: 4001, month: 1, day: 1))
    /// The longest sample of any type, in microseconds: twelve years, longer than an intrauterine device stays in
    /// place.
    package static let longest = 4383 * day

    /// A clock that shows a time before this release existed hasn't been set.
    static let firstCredible = start(of: LocalDay(year: 2026, month: 7, day: 1))
    /// HealthKit has restricted durations since iOS 13.
    static let restricted = start(of: LocalDay(year: 2019, month: 9, day: 19))
    /// Microseconds.
    static let day = 86_400 * Instant.microsecondsPerSecond

    /// The latest time that a sample can have now: a day ahead, to allow for clocks and zones. A clock that hasn't been
    /// set imposes no limit.
    package static func latest(now: Instant?) -> Instant {
        guard let now, now >= firstCredible else { return latest }
        return min(latest, Instant(microseconds: now.microseconds + day))
    }

    /// The time up to which a sample counts towards days and figures. A sample that is ongoing, or lasts longer than is
    /// possible, counts only at the moment when it began. This one uses plain microseconds, as in rows and columns.
    package static func countedEnd(start: Int64, duration: Int64) -> Int64 {
        (0...longest).contains(duration) ? start &+ duration : start
    }

    /// When a date begins, ignoring zones.
    package static func start(of day: LocalDay) -> Instant {
        Instant(microseconds: Int64(day.number) * Self.day)
    }

    /// Whether a sample that begins at this instant may be counted.
    package static func mayStart(_ start: Instant) -> Bool { (earliest...latest).contains(start) }
}
