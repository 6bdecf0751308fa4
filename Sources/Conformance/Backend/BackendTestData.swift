import HealthModel

/// The elements that the test sends. They are dated 2001, so that they don't mix with anyone's real data.
struct BackendTestData {
    let user: String
    /// Rises with each element, starting at the current time in milliseconds since 1970, as in a new store.
    private var version: Int64
    private var second: Int64 = 0
    private var date = LocalDay(year: 2001, month: 2, day: 3)

    static let steps = "HKQuantityTypeIdentifierStepCount"
    /// Midnight on 3 February 2001, UTC.
    private static let origin: Int64 = 981_158_400

    init(user: String, now: Instant) {
        self.user = user
        version = now.microseconds / 1000
    }

    mutating func nextVersion() -> Int64 {
        version += 1
        return version
    }

    private mutating func nextTime() -> (start: String, end: String) {
        second += 60
        let start = Instant(seconds: Self.origin + second)
        return (InstantText.iso8601(start), InstantText.iso8601(start + .seconds(30)))
    }

    /// A new sample, as the uploader writes it.
    mutating func sample(_ id: SampleID, _ more: [String: Value] = [:]) -> [String: Value] {
        let time = nextTime()
        let plain: [String: Value] = [
            "id": .string(id.description), "healthkitUUID": .null, "version": .integer(nextVersion()),
            "type": .string(Self.steps), "startDate": .string(time.start), "endDate": .string(time.end), "value": 12,
            "unit": "count", "source": "healthbus test", "sourceType": "healthkit", "metadata": .null,
        ]
        return plain.merging(more) { $1 }
    }

    mutating func workout(_ id: SampleID) -> [String: Value] {
        let time = nextTime()
        return [
            "id": .string(id.description), "version": .integer(nextVersion()), "type": "running", "activityType": 37,
            "activityIdentifier": "HKWorkoutActivityTypeRunning", "startDate": .string(time.start),
            "endDate": .string(time.end), "duration": 30, "distance": .null, "activeEnergy": 4.5,
            "activities": [
                [
                    "activity": "running", "activityType": 37, "start": .string(time.start), "end": .string(time.end),
                    "durationSeconds": 30, "distanceMeters": .null, "energyKilocalories": 4.5,
                ]
            ], "events": [], "heartRate": .null, "heartRateZones": .null, "route": .null, "metadata": [:],
        ]
    }

    mutating func night(_ id: SampleID) -> [String: Value] {
        let time = nextTime()
        return [
            "id": .string(id.description), "version": .integer(nextVersion()), "start": .string(time.start),
            "end": .string(time.end), "date": "2001-02-03", "asleepMinutes": 411,
        ]
    }

    mutating func day() -> [String: Value] {
        date = date.adding(days: 1)
        return [
            "date": .string(date.description), "version": .integer(nextVersion()), "revision": 1, "final": true,
            "steps": 8123,
        ]
    }

    static func deletion(_ id: String, _ version: Int64) -> [String: Value] {
        ["id": .string(id), "version": .integer(version)]
    }

    /// A request's body.
    func body(_ lists: [String: [[String: Value]]], user other: String? = nil, adding more: [String: Value] = [:])
        -> [UInt8]
    {
        var body: [String: Value] = [
            "userId": .string(other ?? user), "deviceId": "healthbus-backend-test", "syncedAt": "2001-02-04T00:00:00Z",
        ]
        for (name, elements) in lists { body[name] = .array(elements.map { .object($0) }) }
        return Array(Value.object(body.merging(more) { $1 }).json().utf8)
    }
}
