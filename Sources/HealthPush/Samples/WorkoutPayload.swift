import HealthModel
import JSON

/// A workout's payload, from the `workout` member of an item: the same members as for a workout from an export (see
/// docs/ways-in.md), in canonical units. `activity` is HealthKit's name or number. A number that can't be true goes only
/// into `leftOut`, as in imports: it is kept but not counted. A member of the wrong shape (`WorkoutShape`) is refused.
/// Everything else is kept unchanged; null counts as missing.
struct WorkoutPayload {
    private var numbers: WorkoutNumbers
    private var out: [UInt8] = [UInt8(ascii: "{")]
    private var hasActivity = false
    /// What the item itself says was left out, for example because it comes from another stack.
    private var leftOut: [String: Value] = [:]

    private init(start: Instant, end: Instant) { numbers = WorkoutNumbers(start: start, end: end) }

    static func json(of span: JSONSpan?, start: Instant, end: Instant) throws(SampleProblem) -> [UInt8] {
        guard let span, span.kind == .object else {
            throw SampleProblem(reason: "a workout has its activity in 'workout': {\"activity\": …}")
        }
        var payload = WorkoutPayload(start: start, end: end)
        var members: [(name: JSONSpan, value: JSONSpan)] = []
        try span.eachMember { if !$1.isNull { members.append(($0, $1)) } }
        try check(members)
        for member in members { try payload.add(member.name, member.value) }
        guard payload.hasActivity else {
            throw SampleProblem(reason: "the workout's activity isn't one of HealthKit's names or numbers")
        }
        return payload.finished()
    }

    private static func check(_ members: [(name: JSONSpan, value: JSONSpan)]) throws(SampleProblem) {
        let shape = WorkoutShape(mayLackNumbers: members.contains { $0.name.text == "leftOut" })
        var seen: Set<String> = []
        for (name, value) in members {
            guard let name = name.text, WorkoutShape.names.contains(name) || name == "activity" else { continue }
            guard seen.insert(name).inserted else { throw SampleProblem(reason: "the workout has \(name) twice") }
            if let problem = shape.problem(name, try given(value)) {
                throw SampleProblem(reason: "the workout's \(problem)")
            }
        }
    }

    /// The value; only the numbers inside lists and objects must be readable.
    private static func given(_ span: JSONSpan) throws(SampleProblem) -> Value {
        if span.kind == .number { return .number(span.double ?? 0) }
        if let text = span.text { return .string(text) }
        do {
            return try Value(json: span.whole)
        } catch { throw SampleProblem(reason: "the workout has a number that is too large to be read") }
    }

    private mutating func add(_ name: JSONSpan, _ value: JSONSpan) throws(SampleProblem) {
        let key = name.text ?? ""
        switch key {
        case "activity":
            guard let activity = Self.activity(value) else { return }
            hasActivity = true
            begin(key)
            out.append(jsonString: activity)
        case "statistics": try write(key, value) { $0.checked(statistics: $1) }
        case "activities": try write(key, value) { $0.checked(activities: $1) }
        case "leftOut": leftOut.merge(value.value.object ?? [:]) { first, _ in first }
        default:
            let text = value.kind == .number ? String(decoding: value.bytes, as: UTF8.self) : nil
            if let text, !isPossible(key, text) { return }
            begin(key)
            out.append(contentsOf: value.whole)
        }
    }

    private mutating func finished() -> [UInt8] {
        leftOut.merge(numbers.leftOut) { _, new in new }
        if !leftOut.isEmpty {
            out.append(json: ",\"leftOut\":")
            out.append(contentsOf: Value.object(leftOut).json().utf8)
        }
        out.append(UInt8(ascii: "}"))
        return out
    }

    /// Names without needless escapes, so that the same members are joined.
    private mutating func begin(_ name: String) {
        if out.count > 1 { out.append(UInt8(ascii: ",")) }
        out.append(jsonString: name)
        out.append(UInt8(ascii: ":"))
    }

    /// Writes a member that is a list, as it was unless something in it is changed.
    private mutating func write(
        _ name: String, _ value: JSONSpan, _ check: (inout WorkoutPayload, Value) -> Value
    ) throws(SampleProblem) {
        let given = try Self.given(value)
        let checked = check(&self, given)
        begin(name)
        if checked == given {
            out.append(contentsOf: value.whole)
        } else {
            out.append(contentsOf: checked.json().utf8)
        }
    }

    private static func activity(_ span: JSONSpan) -> String? {
        if let number = span.integer { return Int(exactly: number).map { text(of: WorkoutActivity(raw: $0)) } }
        guard let name = span.text, !name.isEmpty, name.utf8.count <= 200 else { return nil }
        return text(of: WorkoutActivity(named: name))
    }

    private static func text(of activity: WorkoutActivity) -> String {
        guard let raw = activity.raw else { return activity.identifier }
        // A number that isn't in the table has no name of its own, so its digits are kept.
        return WorkoutActivity(named: activity.identifier).raw == raw ? activity.identifier : String(raw)
    }
}

// Which numbers can be true: the same rules as for imports.
extension WorkoutPayload {
    private static let totals = [
        "totalDistanceMeters": WorkoutNumbers.distance, "totalEnergyKilocalories": WorkoutNumbers.energy,
        "totalSwimmingStrokeCount": "HKQuantityTypeIdentifierSwimmingStrokeCount",
        "totalFlightsClimbed": "HKQuantityTypeIdentifierFlightsClimbed",
    ]

    /// False for a duration or total that can't be true, which is then noted as left out.
    private mutating func isPossible(_ member: String, _ text: String, within place: String = "") -> Bool {
        if member == "durationSeconds" { return !numbers.seconds(text, "s", place + member).isNull }
        guard let type = Self.totals[member] else { return true }
        return numbers.total(text, nil, HealthType.named(type), place + member) != nil
    }

    private mutating func checked(activities: Value) -> Value {
        guard let list = activities.array else { return activities }
        var checked: [Value] = []
        for activity in list {
            guard var members = activity.object else {
                checked.append(activity)
                continue
            }
            for (name, value) in Value.inOrder(members) {
                if name == "activity" {
                    // The kinds of activities are texts, as in exports.
                    let raw = value.int.flatMap { Int(exactly: $0) }
                    if let raw { members[name] = .string(Self.text(of: WorkoutActivity(raw: raw))) }
                } else if name == "statistics" {
                    members[name] = self.checked(statistics: value)
                } else if let number = value.double,
                    !isPossible(name, JSONNumber.text(number), within: "activities ")
                {
                    members[name] = nil
                }
            }
            checked.append(.object(members))
        }
        return .array(checked)
    }

    private mutating func checked(statistics: Value) -> Value {
        guard let list = statistics.array else { return statistics }
        var checked: [Value] = []
        for statistic in list { checked.append(self.checked(statistic: statistic)) }
        return .array(checked)
    }

    /// The statistic in its type's unit, without the numbers that can't be true.
    private mutating func checked(statistic: Value) -> Value {
        guard var members = statistic.object, let type = statistic["type"].string else { return statistic }
        let unit = statistic["unit"].string
        for name in ["sum", "average", "minimum", "maximum"] {
            guard let number = members[name]?.double else { continue }
            let found = numbers.statistic(JSONNumber.text(number), unit, HealthType.named(type), name)
            if found?.value != number { members[name] = found.map { Value.number($0.value) } }
            if let found, unit != nil { members["unit"] = .string(found.unit) }
        }
        return .object(members)
    }
}
