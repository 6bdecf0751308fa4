import HealthModel
import StageKit

/// When days are over, looked up once each: every turn asks it of all open days.
struct DayEnds {
    /// nil where nobody can tell.
    private var known: [SummaryDays.Key: Instant?] = [:]

    /// - Parameter timelines: the same as ever since `forget`.
    mutating func isOver(_ key: SummaryDays.Key, at now: Instant, _ timelines: Timelines) -> Bool {
        if let end = known[key] { return end.map { now >= $0 } ?? false }
        let end = timelines[key.user]?.end(of: LocalDay(number: key.day))
        known[key] = .some(end)
        return end.map { now >= $0 } ?? false
    }

    /// The timelines have changed.
    mutating func forget() { known = [:] }
}
