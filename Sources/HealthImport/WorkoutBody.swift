import HealthModel

/// What a workout's payload holds, in canonical units (m, kcal, s) and UTC.
///
/// Members that the export doesn't have are missing: `activity`, `durationSeconds`, `totalDistanceMeters`, `totalEnergyKilocalories`,
/// `totalSwimmingStrokeCount`, `totalFlightsClimbed`, `events`, `statistics`, `activities`, `route`.
struct WorkoutBody {
    /// Path of the route's file, or of the route that stood inside.
    let route: String?
    let payload: Value

    init(_ tree: ElementTree, inlineRoute: String?) {
        let reference = tree.children("WorkoutRoute").lazy
            .flatMap { $0.children("FileReference") }
            .compactMap { $0.attribute("path") }
            .first
        route = reference ?? inlineRoute
        var members = Self.common(tree)
        members["activity"] = Value(tree.attribute("workoutActivityType"))
        members["route"] = Value(route)
        let totals = [
            ("totalDistanceMeters", "totalDistance", "HKQuantityTypeIdentifierDistanceWalkingRunning"),
            ("totalEnergyKilocalories", "totalEnergyBurned", "HKQuantityTypeIdentifierActiveEnergyBurned"),
            ("totalSwimmingStrokeCount", "totalSwimmingStrokeCount", "HKQuantityTypeIdentifierSwimmingStrokeCount"),
            ("totalFlightsClimbed", "totalFlightsClimbed", "HKQuantityTypeIdentifierFlightsClimbed"),
        ]
        for (member, attribute, type) in totals {
            let unit = tree.attribute(attribute + "Unit")
            guard let total = Self.number(tree.attribute(attribute), unit, HealthType.named(type)) else { continue }
            members[member] = .number(total.value)
        }
        let activities = tree.children("WorkoutActivity").map { Self.activity($0) }
        if !activities.isEmpty { members["activities"] = .array(activities) }
        payload = .object(members.filter { !$0.value.isNull })
    }

    private static func activity(_ tree: ElementTree) -> Value {
        var members = common(tree)
        members["uuid"] = Value(tree.attribute("uuid"))
        members["activity"] = Value(tree.attribute("workoutActivityType"))
        members["start"] = date(tree.attribute("startDate"))
        members["end"] = date(tree.attribute("endDate"))
        members["metadata"] = metadata(tree)
        return .object(members.filter { !$0.value.isNull })
    }

    /// Duration, events and statistics: a workout has them, and so has each of its activities.
    private static func common(_ tree: ElementTree) -> [String: Value] {
        var members: [String: Value] = ["durationSeconds": seconds(tree)]
        let events = tree.children("WorkoutEvent").map { event($0) }
        if !events.isEmpty { members["events"] = .array(events) }
        let statistics = tree.children("WorkoutStatistics").map { statistic($0) }
        if !statistics.isEmpty { members["statistics"] = .array(statistics) }
        return members
    }

    private static func event(_ tree: ElementTree) -> Value {
        let members: [String: Value] = [
            "type": Value(tree.attribute("type")), "date": date(tree.attribute("date")),
            "durationSeconds": seconds(tree), "metadata": metadata(tree),
        ]
        return .object(members.filter { !$0.value.isNull })
    }

    private static func statistic(_ tree: ElementTree) -> Value {
        let type = HealthType.named(tree.attribute("type") ?? "")
        var members: [String: Value] = ["type": .string(type.identifier)]
        for name in ["sum", "average", "minimum", "maximum"] {
            guard let number = number(tree.attribute(name), tree.attribute("unit"), type) else { continue }
            members[name] = .number(number.value)
            members["unit"] = .string(number.unit)
        }
        return .object(members)
    }

    /// The number in the type's unit, or in its own where that doesn't fit.
    private static func number(_ text: String?, _ unit: String?, _ type: HealthType) -> (value: Double, unit: String)? {
        guard var text else { return nil }
        var factors = UnitFactors.identity
        var kept = type.unit
        if let unit, !unit.isEmpty {
            // A unit that doesn't fit the type stays.
            if let found = UnitConversion.toCanonical(unit: unit, for: type) {
                factors = UnitFactors(scale: found.scale, offset: found.offset)
            } else {
                kept = unit
            }
        }
        return text.withUTF8 { factors.convert($0) }.map { ($0, kept) }
    }

    private static let secondsType = HealthType(identifier: "duration", kind: .other, unit: "s", style: .none)

    /// `duration` in seconds; its unit is minutes where none is given.
    private static func seconds(_ tree: ElementTree) -> Value {
        let unit = tree.attribute("durationUnit") ?? "min"
        let number = number(tree.attribute("duration"), unit, secondsType)
        return Value(number?.unit == "s" ? number?.value : nil)
    }

    private static func date(_ text: String?) -> Value {
        Value(text.flatMap { InstantText.parse($0) }.map { InstantText.iso8601($0) })
    }

    private static func metadata(_ tree: ElementTree) -> Value {
        let entries = tree.children("MetadataEntry").compactMap { entry in
            entry.attribute("key").map { ($0, Value(entry.attribute("value") ?? "")) }
        }
        return entries.isEmpty ? .null : .object(Dictionary(entries, uniquingKeysWith: { first, _ in first }))
    }
}
