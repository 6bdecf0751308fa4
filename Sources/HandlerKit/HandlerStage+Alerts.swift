import Configuration
import HealthModel
import Logging
import Protocol
import StageKit

/// Which days were marked by new data rather than by history that is being read for the first time, since only new data
/// is worth an alert.
struct NewsDays {
    private var keys: Set<DirtyDays.Key> = []
    private var history: Set<DirtyDays.Key> = []
    /// When to look for old alerts next.
    var nextLook = MonotonicTime.distantPast

    mutating func mark(_ key: DirtyDays.Key, isBulk: Bool) {
        if isBulk { history.insert(key) } else { keys.insert(key) }
    }

    /// Whether a day that is being computed was marked only by new data. A day left over from before a crash doesn't
    /// count as new, because it is unknown what marked it.
    func isNews(_ key: DirtyDays.Key) -> Bool { keys.contains(key) && !history.contains(key) }

    mutating func computed(_ key: DirtyDays.Key) {
        keys.remove(key)
        history.remove(key)
    }
}

extension HandlerStage {
    /// A workout isn't news if it ended longer ago than this when it arrived; an alert about a workout is cleared after
    /// this time.
    static let newsLasts = Duration.seconds(24 * 3600)
    private static let lookEvery = Duration.seconds(3600)

    /// Raises an alert for a workout that has just arrived.
    func alert(of event: DayEvent, key: DirtyDays.Key, _ turn: Turn) throws {
        guard event.kind == "workout", news.isNews(key),
            let end = event.payload["endDate"].string.flatMap({ InstantText.parse($0) }),
            (.zero..<Self.newsLasts).contains(turn.now - end)
        else { return }
        try turn.raise(
            Alert(
                .workoutRecorded, subject: event.id, text: "A workout has been recorded.",
                remedy: "Nothing needs to be done; 'healthbus workouts --user \(Advice.quoted(key.user))' shows it."),
            user: key.user)
    }

    /// Reports only the first day that can't be computed, since others usually fail for the same reason.
    func alert(of reason: String, day: LocalDay, _ turn: Turn) throws {
        let remedy =
            manifest.exec == nil
            ? "'healthbus logs \(instance)' has the event day.failed: report it with that"
            : "correct the plugin and raise its version; "
                + "'healthbus swap \(instance) --with \(Advice.quoted(manifest.folder))' then computes every day again"
        try turn.raise(
            Alert(.failedDays, text: "\(day) can't be computed: \(reason)", remedy: remedy))
    }

    /// Clears alerts that are no longer new.
    func clearOldNews(_ turn: Turn) throws {
        guard turn.monotonic >= news.nextLook else { return }
        news.nextLook = turn.monotonic + Self.lookEvery
        for alert in try turn.alerts(.workoutRecorded) where turn.now - alert.since >= Self.newsLasts {
            try turn.clear(.workoutRecorded, subject: alert.subject)
        }
    }
}
