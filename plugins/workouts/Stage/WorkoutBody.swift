import HealthModel
import HealthStatistics

/// What a workout's payload says, or one of its activities.
struct WorkoutBody {
    private let body: Value
    let start: Instant
    let end: Instant
    /// When it wasn't paused.
    let active: IntervalSet

    init(_ body: Value, start: Instant, end: Instant) {
        self.body = body
        self.start = start
        self.end = max(start, end)
        let paused = Self.pauses(body["events"].array ?? [], start: start, end: self.end)
        active = IntervalSet([start..<self.end]).subtracting(IntervalSet(paused))
    }

    /// An activity of this workout: its own pauses, and those of the whole.
    private init(_ body: Value, start: Instant, end: Instant, of whole: WorkoutBody) {
        let own = WorkoutBody(body, start: start, end: end)
        self.body = body
        self.start = start
        self.end = own.end
        active = own.active.intersection(whole.active)
    }

    subscript(_ member: String) -> Value { body[member] }

    /// Seconds of active time: a duration that isn't zero wins; else it is the time from start to end without the pauses.
    var duration: Double {
        if let explicit = body["durationSeconds"].double, explicit > 0 { return explicit }
        return active.length.seconds
    }

    /// Metres; nil when it isn't known.
    var distance: Double? {
        sum { $0.hasPrefix("HKQuantityTypeIdentifierDistance") } ?? Self.total(body["totalDistanceMeters"])
    }

    /// Active kilocalories; nil when they aren't known.
    var energy: Double? {
        sum { $0 == "HKQuantityTypeIdentifierActiveEnergyBurned" } ?? Self.total(body["totalEnergyKilocalories"])
    }

    /// The statistic of a type; null when there is none.
    func statistic(_ type: String) -> Value {
        (body["statistics"].array ?? []).first { $0["type"].string == type } ?? .null
    }

    /// The activities that it names; one without end goes on until the workout ends.
    var activities: [WorkoutBody] {
        (body["activities"].array ?? []).map { activity in
            func date(_ member: String) -> Instant? { activity[member].string.flatMap { InstantText.parse($0) } }
            return WorkoutBody(activity, start: date("start") ?? start, end: date("end") ?? end, of: self)
        }
    }

    /// The sum over the statistics of some types; nil when there is none.
    private func sum(_ belongs: (String) -> Bool) -> Double? {
        let sums = (body["statistics"].array ?? []).filter { belongs($0["type"].string ?? "") }
            .compactMap(\.["sum"].double)
        return sums.isEmpty ? nil : sums.reduce(0, +)
    }

    /// Old exports print a total of 0 where nothing was measured.
    private static func total(_ value: Value) -> Double? { value.double.flatMap { $0 > 0 ? $0 : nil } }

    /// A workout begins active; a pause in a pause and a resume without one change nothing. Motion events don't count.
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
