import HealthModel
import SQLite
import StageKit

/// The times that a page's spans touch for one user, limited to times that samples can have. Each moment is counted
/// only once, so a thousand samples that last for weeks cost no more than those weeks.
struct TouchedTime {
    private var spans: [Range<Instant>] = []

    mutating func add(_ start: Instant, _ end: Instant) {
        let first = max(start, SampleTimes.earliest)
        let last = min(max(end, start), SampleTimes.latest)
        guard first < last else { return }
        spans.append(first..<last)
    }

    /// The times in order, without overlap.
    var ranges: [Range<Instant>] { spans.united() }
}

extension HandlerStage {
    private static let daysAtOnce = 500

    /// Marks days left by an earlier release that have figures but are too early or late for any sample. They are
    /// computed again, usually with the result that there are no figures. This happens once for each, a few at a time,
    /// when there is nothing else to do.
    func markImpossibleDays(_ turn: Turn) throws {
        guard let last = lastImpossibleDay, dirty.count == 0, upstream.isLevel else { return }
        let possible = DirtyDays.possible
        let keys = try turn.database.prepare(
            """
            SELECT DISTINCT user, day FROM changes WHERE body IS NOT NULL AND (user, day) > (?, ?)
            AND (day < \(possible.lowerBound) OR day > \(possible.upperBound)) ORDER BY user, day LIMIT \(Self.daysAtOnce)
            """
        ).with(last.user, last.day).rows { DirtyDays.Key($0) }
        for key in keys { try dirty.mark(key, since: DirtyDays.behindEverything, turn) }
        lastImpossibleDay = keys.last
    }
}
