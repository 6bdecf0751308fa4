import HealthModel

/// The contents of a workout's payload, in canonical units (m, kcal, s) and UTC.
///
/// Its members are listed below; each is left out if the export doesn't have it: `activity`, `durationSeconds`,
/// `totalDistanceMeters`, `totalEnergyKilocalories`, `totalSwimmingStrokeCount`, `totalFlightsClimbed`, `events`,
/// `statistics`, `activities`, `route`. A number that can't be true, or whose unit doesn't fit, goes only into
/// `leftOut`, as printed and under the attribute's name: it is kept but not counted.
struct WorkoutBody {
    /// Path of the route's file, or of the route inside the workout.
    let route: String?
    let payload: Value
    /// How many numbers were left out.
    private(set) var leftOut = 0

    init(_ tree: ElementTree, inlineRoute: String?, start: Instant, end: Instant) {
        let reference = tree.children("WorkoutRoute").lazy
            .flatMap { $0.children("FileReference") }
            .compactMap { $0.attribute("path") }
            .first
        route = reference ?? inlineRoute
        var numbers = WorkoutNumbers(start: start, end: end)
        var members = Self.common(tree, &numbers)
        members["activity"] = Value(tree.attribute("workoutActivityType"))
        members["route"] = Value(route)
        let totals = [
            ("totalDistanceMeters", "totalDistance", WorkoutNumbers.distance),
            ("totalEnergyKilocalories", "totalEnergyBurned", WorkoutNumbers.energy),
            ("totalSwimmingStrokeCount", "totalSwimmingStrokeCount", "HKQuantityTypeIdentifierSwimmingStrokeCount"),
            ("totalFlightsClimbed", "totalFlightsClimbed", "HKQuantityTypeIdentifierFlightsClimbed"),
        ]
        for (member, attribute, type) in totals {
            let unit = tree.attribute(attribute + "Unit")
            members[member] = numbers.total(tree.attribute(attribute), unit, HealthType.named(type), attribute)
        }
        let activities = tree.children("WorkoutActivity").map { Self.activity($0, &numbers) }
        if !activities.isEmpty { members["activities"] = .array(activities) }
        if !numbers.leftOut.isEmpty { members["leftOut"] = .object(numbers.leftOut) }
        leftOut = numbers.leftOutCount
        payload = .object(members.filter { !$0.value.isNull })
    }

    private static func activity(_ tree: ElementTree, _ numbers: inout WorkoutNumbers) -> Value {
        var members = common(tree, &numbers)
        members["uuid"] = Value(tree.attribute("uuid"))
        members["activity"] = Value(tree.attribute("workoutActivityType"))
        members["start"] = date(tree.attribute("startDate"))
        members["end"] = date(tree.attribute("endDate"))
        members["metadata"] = metadata(tree)
        return .object(members.filter { !$0.value.isNull })
    }

    /// Duration, events and statistics, which both a workout and each of its activities have.
    private static func common(_ tree: ElementTree, _ numbers: inout WorkoutNumbers) -> [String: Value] {
        var members: [String: Value] = ["durationSeconds": numbers.seconds(tree)]
        var events: [Value] = []
        for child in tree.children("WorkoutEvent") { events.append(event(child, &numbers)) }
        if !events.isEmpty { members["events"] = .array(events) }
        var statistics: [Value] = []
        for child in tree.children("WorkoutStatistics") { statistics.append(statistic(child, &numbers)) }
        if !statistics.isEmpty { members["statistics"] = .array(statistics) }
        return members
    }

    private static func event(_ tree: ElementTree, _ numbers: inout WorkoutNumbers) -> Value {
        let members: [String: Value] = [
            "type": Value(tree.attribute("type")), "date": date(tree.attribute("date")),
            "durationSeconds": numbers.seconds(tree), "metadata": metadata(tree),
        ]
        return .object(members.filter { !$0.value.isNull })
    }

    private static func statistic(_ tree: ElementTree, _ numbers: inout WorkoutNumbers) -> Value {
        let type = HealthType.named(tree.attribute("type") ?? "")
        var members: [String: Value] = ["type": .string(type.identifier)]
        for name in ["sum", "average", "minimum", "maximum"] {
            let found = numbers.statistic(tree.attribute(name), tree.attribute("unit"), type, name)
            guard let found else { continue }
            members[name] = .number(found.value)
            members["unit"] = .string(found.unit)
        }
        return .object(members)
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

extension WorkoutNumbers {
    /// The `duration` of an element.
    fileprivate mutating func seconds(_ tree: ElementTree) -> Value {
        seconds(tree.attribute("duration"), tree.attribute("durationUnit"), "\(tree.name) duration")
    }
}
