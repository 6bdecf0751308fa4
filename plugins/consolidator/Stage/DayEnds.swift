import HealthModel
import StageKit

/// When days end, each looked up only once, since every turn asks about all open days.
struct DayEnds {
    /// nil if unknown.
    private var known: [SummaryDays.Key: Instant?] = [:]

    /// - Parameter timelines: unchanged since the last `forget`.
    mutating func isOver(_ key: SummaryDays.Key, at now: Instant, _ timelines: Timelines) -> Bool {
        if let end = known[key] { return end.map { now >= $0 } ?? false }
        let end = timelines[key.user]?.end(of: LocalDay(number: key.day))
        known[key] = .some(end)
        return end.map { now >= $0 } ?? false
    }

    /// The timelines have changed.
    mutating func forget() { known = [:] }
}
