import HealthModel

/// A person's days, nights and workouts as Open mHealth data points: each has a header, and a body that follows one of
/// the schemas. Pure.
package struct OpenMHealth: Sendable {
    /// Must be increased whenever the same element would give other data points, as `Observations.revision`.
    package static let revision: Int64 = 2

    private let user: String

    package init(user: String) { self.user = user }

    /// A header's id must be unique among all data points, and should carry no meaning.
    private func id(_ schema: String, _ document: String, _ part: String) -> Value {
        .string(NamedID.uuid(["omh", user, schema, document, part]).description)
    }

    static func schemaID(_ name: String, _ version: String) -> Value {
        ["namespace": "omh", "name": .string(name), "version": .string(version)]
    }

    /// - Parameter part: distinguishes the points of one document; empty if there is only one.
    private func point(
        _ id: String, _ part: String, _ schema: (name: String, version: String), created: Instant, source: String,
        body: [String: Value]
    ) -> Value {
        let header: [String: Value] = [
            "id": self.id(schema.name, id, part),
            "creation_date_time": .string(InstantText.iso8601(created)),
            "schema_id": Self.schemaID(schema.name, schema.version),
            "acquisition_provenance": ["source_name": .string(source.isEmpty ? "unknown" : source)],
            "user_id": .string(user),
        ]
        return ["header": .object(header), "body": .object(body)]
    }

    private func point(
        _ id: String, _ part: String, _ schema: OpenMHealthSchema, _ value: Value, _ time: Range<Instant>,
        source: String, statistic: String? = nil
    ) -> Value? {
        guard let number = value.double, number.isFinite else { return nil }
        var body: [String: Value] = [
            schema.member: Self.quantity(schema.number(number), schema.unit), "effective_time_frame": Self.frame(time),
        ]
        if let statistic { body["descriptive_statistic"] = .string(statistic) }
        if let more = schema.more { body[more.name] = .string(more.value) }
        return point(
            id, part, (schema.name, schema.version), created: time.upperBound, source: source, body: body)
    }

    private static func quantity(_ number: Double, _ unit: String) -> Value {
        ["value": .number(number), "unit": .string(unit)]
    }

    private static func frame(_ time: Range<Instant>) -> Value {
        [
            "time_interval": [
                "start_date_time": .string(InstantText.iso8601(time.lowerBound)),
                "end_date_time": .string(InstantText.iso8601(time.upperBound)),
            ]
        ]
    }

    private static func time(_ start: Value, _ end: Value) -> Range<Instant>? {
        guard let start = start.string.flatMap({ InstantText.parse($0) }),
            let end = end.string.flatMap({ InstantText.parse($0) }), start <= end
        else { return nil }
        return start..<end
    }

    /// The source given for everything that this program adds up.
    private static let ownSource = "healthbus"

    /// A day's steps, energy and heart rate, from its first hour to the end of its last; nothing without the hours,
    /// which show when a local day begins and ends.
    package func day(_ document: Value, id: String) -> [Value] {
        let hours = document["hours"]["start"].array ?? []
        let starts = hours.compactMap { $0.string.flatMap { InstantText.parse($0) } }
        guard let first = starts.first, let last = starts.last, first <= last, starts.count == hours.count else {
            return []
        }
        let time = first..<last + .seconds(3600)
        let rate = OpenMHealthSchema.types["HKQuantityTypeIdentifierHeartRate"]
        var points = [
            point(
                id, "steps", .steps, document["steps"], time, source: Self.ownSource, statistic: "sum"),
            point(
                id, "energy", .energy, document["activeEnergyKilocalories"], time, source: Self.ownSource,
                statistic: "sum"),
        ]
        let members = [("average", "average"), ("min", "minimum"), ("max", "maximum")]
        for (member, statistic) in members {
            guard let rate else { continue }
            points.append(
                point(
                    id, "heart-rate-" + statistic, rate, document["heartRate"][member], time, source: Self.ownSource,
                    statistic: statistic))
        }
        return points.compactMap { $0 }
    }

    private static let nightMembers: [(name: String, member: String)] = [
        ("asleepMinutes", "total_sleep_time"), ("latencyMinutes", "latency_to_sleep_onset"),
        ("wakeAfterOnsetMinutes", "wake_after_sleep_onset"),
    ]

    /// A night or a nap, as the episode and how long the person slept.
    package func night(_ document: Value, id: String) -> [Value] {
        guard let time = Self.time(document["start"], document["end"]) else { return [] }
        let source = document["source"].string ?? ""
        var body: [String: Value] = ["effective_time_frame": Self.frame(time)]
        if let isMain = document["main"].bool { body["is_main_sleep"] = .bool(isMain) }
        for (name, member) in Self.nightMembers {
            guard let minutes = document[name].double, minutes.isFinite else { continue }
            body[member] = Self.quantity(minutes, "min")
        }
        if let share = document["efficiency"].double, share.isFinite {
            body["sleep_maintenance_efficiency_percentage"] = Self.quantity((share * 1e11).rounded() / 1e9, "%")
        }
        let episode = point(id, "", ("sleep-episode", "1.1"), created: time.upperBound, source: source, body: body)
        let duration = point(
            id, "sleep-duration", .sleep, document["asleepMinutes"], time, source: source)
        return [episode] + [duration].compactMap { $0 }
    }

    package func workout(_ document: Value, id: String) -> [Value] {
        guard let time = Self.time(document["startDate"], document["endDate"]) else { return [] }
        var body: [String: Value] = [
            "activity_name": .string(document["type"].string ?? "other"), "effective_time_frame": Self.frame(time),
        ]
        if let meters = document["distance"].double, meters.isFinite { body["distance"] = Self.quantity(meters, "m") }
        if let energy = document["activeEnergy"].double, energy.isFinite {
            body["kcal_burned"] = Self.quantity(energy, "kcal")
        }
        return [point(id, "", ("physical-activity", "1.2"), created: time.upperBound, source: "", body: body)]
    }
}
