import HealthModel
import Protocol

/// An event as far as a trial compares it.
struct EventTrace {
    var kind: String
    var id: String
    /// nil if it doesn't say when it was.
    var time: ClosedRange<Instant>?

    init(kind: String, id: String, payload: Value) {
        (self.kind, self.id) = (kind, id)
        func instant(_ names: [String]) -> Instant? {
            names.lazy.compactMap { payload[$0].string.flatMap(InstantText.parse) }.first
        }
        if let start = instant(["start", "startDate"]), let end = instant(["end", "endDate"]), start <= end {
            time = start...end
        }
    }

    init(_ event: DayEvent) { self.init(kind: event.kind, id: event.id, payload: event.payload) }

    /// nil for a row that isn't an event.
    init?(key: String, body: Value) {
        guard key.hasPrefix("event/"), let event = body.read(EventBody.self) else { return nil }
        self.init(kind: event.kind, id: event.id, payload: event.event)
    }

    /// Whether it is the same event, whoever made it: what a destination would update instead of deleting it.
    func isSame(as other: EventTrace) -> Bool {
        guard kind == other.kind, id == other.id else { return false }
        guard let time, let otherTime = other.time else { return true }
        return time.overlaps(otherTime)
    }
}

/// What becomes of the events of the days of a trial.
struct EventTally {
    /// The events that there are and those that would go, by day; a day that is compared again replaces its first
    /// result.
    private var days: [DirtyDays.Key: (had: [EventTrace], gone: [EventTrace])] = [:]

    mutating func compare(_ day: TrialDays.Day, with output: DayOutput) {
        let new = output.events.map { EventTrace($0) }
        let gone = day.events.filter { old in !new.contains { old.isSame(as: $0) } }
        days[day.key] = (day.events, gone)
    }

    mutating func leaveOut(_ day: DirtyDays.Key) { days[day] = nil }

    /// The days that would lose events.
    var losses: [DirtyDays.Key] { days.filter { !$0.value.gone.isEmpty }.map(\.key) }

    /// By kind.
    var report: [TrialReport.Events] {
        var kinds: [String: TrialReport.Events] = [:]
        for (key, found) in days {
            for event in found.had { kinds[event.kind, default: .init(kind: event.kind)].count += 1 }
            let date = LocalDay(number: key.day).description
            for (kind, gone) in Dictionary(grouping: found.gone, by: \.kind) {
                kinds[kind, default: .init(kind: kind)].lose(gone.count, on: date)
            }
        }
        return kinds.values.sorted { $0.kind < $1.kind }
    }
}
