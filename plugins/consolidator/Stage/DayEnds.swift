import HealthModel
import StageKit

/// When days end; each day is looked up only once, since every turn asks about all open days.
struct DayEnds {
    /// The ends of recent days; nil if unknown.
    private var known: [SummaryDays.Key: Instant?] = [:]
    /// Days that ended by `longAgo`.
    private var past = DaySet()
    private var longAgo = Instant.distantPast

    /// How long a day must have been over to count as past. A mark asks about a time before now.
    private static let margin = Duration.seconds(24 * 3600)

    /// - Parameter timelines: unchanged since the last `forget`.
    mutating func isOver(_ key: SummaryDays.Key, at now: Instant, _ timelines: Timelines) -> Bool {
        if now >= longAgo, past.contains(key) { return true }
        let end: Instant?
        if let found = known[key] { end = found } else { end = timelines[key.user]?.end(of: LocalDay(number: key.day)) }
        guard let end else {
            known[key] = .some(nil)
            return false
        }
        if now >= end + Self.margin {
            known[key] = nil
            past.insert(key)
            longAgo = max(longAgo, end)
        } else {
            known[key] = end
        }
        return now >= end
    }

    /// The given days that are over.
    mutating func over(_ days: DaySet, at now: Instant, _ timelines: Timelines) -> DaySet {
        var over = now >= longAgo ? days.intersection(past) : DaySet()
        for key in days.subtracting(over).sorted where isOver(key, at: now, timelines) { over.insert(key) }
        return over
    }

    /// Call this when the timelines have changed.
    mutating func forget() { self = DayEnds() }
}
