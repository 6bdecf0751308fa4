import HealthModel

/// A day's visits to the places that a person wants watched, each cut off at the day's edges.
///
/// Configuration: `gapHours`, `accuracyMeters`, `marginMeters`, `settleSeconds` (`PlaceRules`). The places are the
/// input's `conditions`.
public struct PlacesDay {
    /// The part of one visit that falls on the day.
    struct Part {
        enum Arrival: String { case entered, found, continued }
        enum Departure: String { case left, `continues` }

        var visit: PlaceVisit
        var range: Range<Instant>
        var arrival: Arrival
        /// nil if no fix shows it.
        var departure: Departure?
    }

    /// The types whose payloads it reads.
    public static let payloadTypes = LocationFix.types

    /// - Throws: `PlaceError`.
    public static func window(_ configuration: Value) throws -> HandlerWindow { try PlaceRules(configuration).window }

    /// By start.
    let parts: [Part]
    let events: [(place: String, event: PlaceMonitor.Event)]
    let fixes: Int
    /// By place.
    let undecided: [String: Int]

    /// - Throws: `PlaceError`.
    public init(_ input: DayInput) throws {
        let monitors = try Self.monitors(input)
        fixes = monitors.fixes
        undecided = Dictionary(
            monitors.all.map { ($0.condition.name, $0.undecided) }, uniquingKeysWith: { first, _ in first })
        var parts: [Part] = []
        var events: [(place: String, event: PlaceMonitor.Event)] = []
        for monitor in monitors.all {
            for visit in monitor.visits {
                for range in input.window { if let part = Part(visit, in: range) { parts.append(part) } }
            }
            events += monitor.events.filter { input.contains($0.time) }.map { (monitor.condition.name, $0) }
        }
        self.parts = parts.sorted {
            ($0.range.lowerBound, $0.visit.place, $0.range.upperBound)
                < ($1.range.lowerBound, $1.visit.place, $1.range.upperBound)
        }
        self.events = events.sorted { ($0.event.time, $0.place) < ($1.event.time, $1.place) }
    }

    /// Monitors for all places, each of which has taken all fixes of the slice.
    static func monitors(_ input: DayInput) throws -> (all: [PlaceMonitor], fixes: Int) {
        let rules = try PlaceRules(input.configuration)
        let conditions = try PlaceCondition.all(in: input.characteristics["conditions"])
        guard !conditions.isEmpty else { return ([], 0) }
        let fixes = LocationFix.all(in: input.samples)
        let monitors = conditions.map { condition in
            var monitor = PlaceMonitor(condition, rules: rules)
            for fix in fixes { monitor.take(fix) }
            return monitor
        }
        return (monitors, fixes.count)
    }

    /// `places` and `visits`, both missing if there are no visits, and an event for each change of state.
    public var output: DayOutput {
        DayOutput(figures: figures, events: events.map { Self.event($0.place, $0.event) })
    }

    /// Members of the day's summary.
    package var figures: [String: Value] {
        guard !parts.isEmpty else { return [:] }
        return ["places": .array(places), "visits": .array(parts.map(\.value))]
    }

    /// Each place's time and visits. A visit that began the day before isn't counted again.
    private var places: [Value] {
        Dictionary(grouping: parts, by: \.visit.place).sorted { $0.key < $1.key }.map { place, parts in
            let seconds = parts.map { ($0.range.upperBound - $0.range.lowerBound).seconds }.reduce(0, +)
            let visits = parts.count { $0.arrival != .continued }
            return ["place": .string(place), "minutes": Part.minutes(seconds), "visits": Value(visits)]
        }
    }

    /// CLMonitor's event: `{place, state, from, time}`.
    private static func event(_ place: String, _ event: PlaceMonitor.Event) -> DayEvent {
        let time = InstantText.iso8601(event.time)
        // Ids are shown even where contents aren't, so they must not contain a place's name, which is private.
        return DayEvent(
            id: "\(time) \(ContentDigest(Array(place.utf8)[...]))", kind: "place",
            payload: [
                "place": .string(place), "state": .string(event.state.rawValue), "from": .string(event.from.rawValue),
                "time": .string(time),
            ])
    }
}

extension PlacesDay.Part {
    /// nil if no part of the visit is within the day's ranges.
    init?(_ visit: PlaceVisit, in day: Range<Instant>) {
        let begins = day.contains(visit.arrival)
        guard begins || (visit.arrival < day.lowerBound && visit.end > day.lowerBound) else { return nil }
        self.visit = visit
        range = max(visit.arrival, day.lowerBound)..<min(visit.end, day.upperBound)
        arrival = !begins ? .continued : visit.isEntered ? .entered : .found
        departure = visit.end > day.upperBound ? .continues : visit.departure == nil ? nil : .left
    }

    /// `{place, start, end, minutes, arrival, departure}`.
    var value: Value {
        [
            "place": .string(visit.place), "start": .string(InstantText.iso8601(range.lowerBound)),
            "end": .string(InstantText.iso8601(range.upperBound)),
            "minutes": Self.minutes((range.upperBound - range.lowerBound).seconds),
            "arrival": .string(arrival.rawValue), "departure": Value(departure?.rawValue),
        ]
    }

    /// Rounded to about a second, because the times of visits aren't known more precisely.
    static func minutes(_ seconds: Double) -> Value { .number((seconds / 60).rounded(decimals: 2)) }
}
