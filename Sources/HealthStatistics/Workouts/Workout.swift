import HealthModel

/// One workout, read from its sample.
public struct Workout {
    /// The sample's.
    public let id: String
    let activity: WorkoutActivity
    let body: WorkoutBody
    let metadata: Value
    let healthKitUUID: SampleID?
    let sourceName: String
    /// When HealthKit stored the workout, in seconds since 1970; 0 if unknown.
    let created: Int64
    var heart = WorkoutHeart.none

    init(_ page: SamplePage, row: Int) throws {
        id = page.ids[row].description
        let payload = try Self.json(page.payload, row, of: id)
        body = WorkoutBody(payload, start: page.startOf(row), end: page.endOf(row))
        activity = Self.activity(payload)
        metadata = try Self.json(page.metadata, row, of: id)
        healthKitUUID = page.healthKitUUID.indices.contains(row) ? page.healthKitUUID[row] : nil
        sourceName = page.originOf(row).sourceName
        created = page.created.indices.contains(row) ? page.created[row] : 0
    }

    /// The activity named in a payload.
    static func activity(_ payload: [UInt8], of id: String) throws -> WorkoutActivity {
        activity(try json(payload, of: id))
    }

    private static func activity(_ payload: Value) -> WorkoutActivity {
        WorkoutActivity(named: payload["activity"].string ?? "other")
    }

    /// The entry in the daily summary.
    public var figure: Value {
        [
            "id": .string(id), "activity": .string(activity.name), "activityType": Value(activity.raw),
            "activityIdentifier": .string(activity.identifier),
            "start": .string(InstantText.iso8601(body.start)), "end": .string(InstantText.iso8601(body.end)),
            "durationSeconds": .number(body.duration), "distanceMeters": Value(body.distance),
            "energyKilocalories": Value(body.energy), "activities": activities, "heartRate": heart.rate,
            "heartRateZones": heart.zones, "route": route(withTrack: false),
        ]
    }

    /// The event's payload.
    public var payload: Value {
        var members: [String: Value] = [
            "id": .string(id), "type": .string(activity.name), "activityType": Value(activity.raw),
            "activityIdentifier": .string(activity.identifier),
            "startDate": .string(InstantText.iso8601(body.start)), "endDate": .string(InstantText.iso8601(body.end)),
            "duration": .number(body.duration), "distance": Value(body.distance), "activeEnergy": Value(body.energy),
            "activities": activities, "events": .array(body.events), "heartRate": heart.rate,
            "heartRateZones": heart.zones, "route": route(withTrack: true), "metadata": metadata,
            "statistics": .array(body["statistics"].array ?? []), "swimmingStrokes": Value(body.swimmingStrokes),
        ]
        if let healthKitUUID { members["healthkitUUID"] = .string(healthKitUUID.description) }
        return .object(members)
    }

    private var activities: Value { .array(WorkoutPart.parts(of: body, activity: activity).map(\.value)) }

    /// Null if there is no route, or if the route's file wasn't received.
    private func route(withTrack: Bool) -> Value {
        guard var members = body["routeSummary"].object else { return .null }
        if !withTrack { members["track"] = nil }
        return .object(members)
    }

    private static func json(_ column: TextColumn, _ row: Int, of id: String) throws -> Value {
        guard row < column.count else { return .null }
        return try json(Array(column.bytes[column.range(row)]), of: id)
    }

    private static func json(_ text: [UInt8], of id: String) throws -> Value {
        guard !text.isEmpty else { return .null }
        do {
            return try Value(json: text)
        } catch {
            throw WorkoutError(id: id)
        }
    }
}

/// A workout whose stored payload can't be read.
public struct WorkoutError: Error, Equatable, CustomStringConvertible {
    package var id: String

    package init(id: String) { self.id = id }

    public var description: String { "workout \(id): its payload or metadata isn't JSON; import the export again" }
}
