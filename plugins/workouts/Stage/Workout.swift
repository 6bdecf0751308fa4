import HealthModel

/// One workout, read from its sample.
struct Workout {
    let id: String
    let activity: String
    let start: Instant
    let end: Instant
    /// Seconds of active time.
    let duration: Double
    /// Metres.
    let distance: Double?
    /// Active kilocalories.
    let energy: Double?
    let metadata: Value
    let healthKitUUID: SampleID?

    init(_ page: SamplePage, row: Int) throws {
        id = page.ids[row].description
        start = page.start[row]
        end = page.end[row]
        let body = try Self.json(page.payload, row, of: id)
        activity = WorkoutActivity(named: body["activity"].string ?? "other").name
        duration = Self.duration(body, start: start, end: end)
        distance =
            Self.sum(body["statistics"]) { $0.hasPrefix("HKQuantityTypeIdentifierDistance") }
            ?? Self.total(body["totalDistanceMeters"])
        energy =
            Self.sum(body["statistics"]) { $0 == "HKQuantityTypeIdentifierActiveEnergyBurned" }
            ?? Self.total(body["totalEnergyKilocalories"])
        metadata = try Self.json(page.metadata, row, of: id)
        healthKitUUID = page.healthKitUUID.indices.contains(row) ? page.healthKitUUID[row] : nil
    }

    /// The entry in the daily summary.
    var figure: Value {
        [
            "id": .string(id), "activity": .string(activity), "start": .string(InstantText.iso8601(start)),
            "end": .string(InstantText.iso8601(end)), "durationSeconds": .number(duration),
            "distanceMeters": Value(distance),
            "energyKilocalories": Value(energy),
        ]
    }

    /// The event's body.
    var payload: Value {
        var members: [String: Value] = [
            "id": .string(id), "type": .string(activity), "startDate": .string(InstantText.iso8601(start)),
            "endDate": .string(InstantText.iso8601(end)), "duration": .number(duration), "distance": Value(distance),
            "activeEnergy": Value(energy), "metadata": metadata,
        ]
        if let healthKitUUID { members["healthkitUUID"] = .string(healthKitUUID.description) }
        return .object(members)
    }

    private static func json(_ column: TextColumn, _ row: Int, of id: String) throws -> Value {
        guard row < column.count, !column.isEmpty(row) else { return .null }
        do {
            return try Value(json: column.bytes[column.range(row)])
        } catch {
            throw WorkoutError(id: id)
        }
    }

    /// A duration that isn't zero wins; else it is the time from start to end without the pauses.
    private static func duration(_ body: Value, start: Instant, end: Instant) -> Double {
        if let explicit = body["durationSeconds"].double, explicit > 0 { return explicit }
        return (end - start - pauses(body["events"].array ?? [], start: start, end: end)).seconds
    }

    /// A workout begins active; a pause in a pause and a resume without one change nothing. Motion events don't count.
    private static func pauses(_ events: [Value], start: Instant, end: Instant) -> Instant {
        let switches = events.compactMap { event -> (at: Instant, pauses: Bool)? in
            guard let date = event["date"].string.flatMap({ InstantText.parse($0) }) else { return nil }
            switch event["type"].string {
            case "HKWorkoutEventTypePause": return (min(max(date, start), end), true)
            case "HKWorkoutEventTypeResume": return (min(max(date, start), end), false)
            default: return nil
            }
        }.sorted { $0.at < $1.at }
        var paused: Instant = 0
        var since: Instant?
        for change in switches {
            if change.pauses {
                since = since ?? change.at
            } else if let begin = since {
                paused += change.at - begin
                since = nil
            }
        }
        return paused + (since.map { end - $0 } ?? 0)
    }

    /// The sum over the statistics of some types; nil when there is none.
    private static func sum(_ statistics: Value, _ belongs: (String) -> Bool) -> Double? {
        let sums = (statistics.array ?? []).filter { belongs($0["type"].string ?? "") }.compactMap(\.["sum"].double)
        return sums.isEmpty ? nil : sums.reduce(0, +)
    }

    /// Old exports print a total of 0 where nothing was measured.
    private static func total(_ value: Value) -> Double? { value.double.flatMap { $0 > 0 ? $0 : nil } }
}

/// A workout whose stored body can't be read.
public struct WorkoutError: Error, Equatable, CustomStringConvertible {
    public var id: String

    public init(id: String) { self.id = id }

    public var description: String { "workout \(id): its payload or metadata isn't JSON; import the export again" }
}
