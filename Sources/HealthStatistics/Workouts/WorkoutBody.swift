import HealthModel

/// The contents of a workout's payload, or of one of its activities.
struct WorkoutBody {
    private let body: Value
    let start: Instant
    let end: Instant
    /// The time in which the workout wasn't paused.
    let active: IntervalSet

    init(_ body: Value, start: Instant, end: Instant) {
        (self.body, self.start) = (body, start)
        self.end = max(start, end)
        let paused = Self.pauses(body["events"].array ?? [], start: start, end: self.end)
        active = IntervalSet([start..<self.end]).subtracting(IntervalSet(paused))
    }

    /// An activity of this workout, with its own pauses and those of the whole workout.
    private init(_ body: Value, start: Instant, end: Instant, of whole: WorkoutBody) {
        let own = WorkoutBody(body, start: start, end: end)
        (self.body, self.start) = (body, start)
        self.end = own.end
        active = own.active.intersection(whole.active)
    }

    subscript(_ member: String) -> Value { body[member] }

    /// The active time in seconds: the stated duration or, if that is zero or missing, the time from start to end minus
    /// the pauses.
    var duration: Double { timed.value }

    var timed: (value: Double, origin: WorkoutOrigin) {
        if let explicit = body["durationSeconds"].double, explicit > 0 { return (explicit, .printed) }
        return (active.length.seconds, .activeTime)
    }

    /// Metres; nil if unknown.
    var distance: Double? { covered.value }

    var covered: (value: Double?, origin: WorkoutOrigin) {
        reported(by: { $0.hasPrefix("HKQuantityTypeIdentifierDistance") }, orTotal: "totalDistanceMeters")
    }

    /// Active kilocalories; nil if unknown.
    var energy: Double? { burned.value }

    var burned: (value: Double?, origin: WorkoutOrigin) {
        reported(by: { $0 == "HKQuantityTypeIdentifierActiveEnergyBurned" }, orTotal: "totalEnergyKilocalories")
    }

    /// Strokes of a swim, as the watch counted them; nil if unknown.
    var swimmingStrokes: Double? {
        reported(by: { $0 == "HKQuantityTypeIdentifierSwimmingStrokeCount" }, orTotal: "totalSwimmingStrokeCount").value
    }

    /// Laps, segments, markers, pauses and the like as they came, each with its `start` and `end` in UTC.
    var events: [Value] {
        (body["events"].array ?? []).map { event in
            guard var members = event.object, let at = event["date"].string.flatMap({ InstantText.parse($0) }) else {
                return event
            }
            let seconds = event["durationSeconds"].double ?? 0
            let lasts = seconds.isFinite && seconds > 0 && seconds < 1e9
            members["start"] = .string(InstantText.iso8601(at))
            members["end"] = .string(InstantText.iso8601(lasts ? at + .seconds(seconds) : at))
            return .object(members)
        }
    }

    /// The statistic for a type; null when there is none.
    func statistic(_ type: String) -> Value {
        (body["statistics"].array ?? []).first { $0["type"].string == type } ?? .null
    }

    /// The activities that the payload names; one without an end lasts until the workout ends.
    var activities: [WorkoutBody] {
        (body["activities"].array ?? []).map { activity in
            func date(_ member: String) -> Instant? { activity[member].string.flatMap { InstantText.parse($0) } }
            return WorkoutBody(activity, start: date("start") ?? start, end: date("end") ?? end, of: self)
        }
    }

    /// The sum of the statistics of some types or, failing that, the payload's total. Old exports print a total of 0
    /// when nothing was measured.
    private func reported(by belongs: (String) -> Bool, orTotal member: String) -> (
        value: Double?, origin: WorkoutOrigin
    ) {
        let parts = (body["statistics"].array ?? []).compactMap { statistic -> WorkoutOrigin.Part? in
            guard let type = statistic["type"].string, belongs(type), let sum = statistic["sum"].double else {
                return nil
            }
            return WorkoutOrigin.Part(type: type, sum: sum)
        }
        if !parts.isEmpty { return (parts.reduce(0) { $0 + $1.sum }, .statistics(parts)) }
        guard let total = body[member].double, total > 0 else { return (nil, .unknown) }
        return (total, .total)
    }

    /// A workout is active when it begins. Pausing it while it is paused, or resuming it while it is active, changes
    /// nothing. Motion events don't count as pauses or resumptions.
    private static func pauses(_ events: [Value], start: Instant, end: Instant) -> [Range<Instant>] {
        let switches = events.compactMap { event -> (at: Instant, pauses: Bool)? in
            guard let date = event["date"].string.flatMap({ InstantText.parse($0) }) else { return nil }
            switch event["type"].string {
            case "HKWorkoutEventTypePause": return (min(max(date, start), end), true)
            case "HKWorkoutEventTypeResume": return (min(max(date, start), end), false)
            default: return nil
            }
        }.sorted { $0.at < $1.at }
        var paused: [Range<Instant>] = []
        var since: Instant?
        for change in switches {
            if change.pauses {
                since = since ?? change.at
            } else if let begin = since {
                paused.append(begin..<change.at)
                since = nil
            }
        }
        if let since { paused.append(since..<end) }
        return paused
    }
}
