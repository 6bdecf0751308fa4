import HealthModel

/// The shapes that the members of a workout's payload must have. A member of another shape would be read as missing,
/// and might take the place of one that an export brought, so its item is refused.
///
/// Reasons name the member and never quote its content.
struct WorkoutShape {
    static let numbers: Set = [
        "durationSeconds", "totalDistanceMeters", "totalEnergyKilocalories", "totalSwimmingStrokeCount",
        "totalFlightsClimbed",
    ]
    static let texts: Set = ["name", "route"]
    static let objects: Set = ["routeSummary", "leftOut"]
    static let lists: Set = ["statistics", "events", "activities"]
    /// All members that must have a certain shape, besides the activity.
    static let names = numbers.union(texts).union(objects).union(lists)

    /// Whether a statistic may be without numbers, because those that can't be true were left out.
    var mayLackNumbers = false

    /// Checks members of a payload; others may have any shape, and null counts as missing.
    /// - Returns: what is wrong with the first by name; nil if nothing is.
    func problem(in members: [String: Value]) -> String? {
        for (name, value) in Value.inOrder(members) {
            if let problem = problem(name, value) { return problem }
        }
        return nil
    }

    /// What is wrong with a member; nil if nothing is.
    func problem(_ name: String, _ value: Value) -> String? {
        if value.isNull { return nil }
        if Self.numbers.contains(name) { return value.double == nil ? "\(name) isn't a number" : nil }
        if Self.texts.contains(name) { return value.string == nil ? "\(name) isn't text" : nil }
        if Self.objects.contains(name) { return value.object == nil ? "\(name) isn't an object" : nil }
        guard Self.lists.contains(name) else { return nil }
        guard let elements = value.array else { return "\(name) isn't a list" }
        for element in elements {
            guard let members = element.object else { return "\(name) has an entry that isn't an object" }
            let problem =
                switch name {
                case "statistics": self.problem(ofStatistic: members)
                case "events": self.problem(ofEvent: members)
                default: self.problem(ofActivity: members)
                }
            if let problem { return "\(name): \(problem)" }
        }
        return nil
    }

    private func problem(ofStatistic members: [String: Value]) -> String? {
        if let problem = missing("type", members) ?? notText("unit", members) { return problem }
        let numbers = ["sum", "average", "minimum", "maximum"].compactMap { name in members[name].map { (name, $0) } }
            .filter { !$0.1.isNull }
        for (name, value) in numbers where value.double == nil { return "\(name) isn't a number" }
        return numbers.isEmpty && !mayLackNumbers ? "an entry has no number" : nil
    }

    private func problem(ofEvent members: [String: Value]) -> String? {
        if let problem = missing("type", members) ?? notDate("date", members) ?? notObject("metadata", members) {
            return problem
        }
        if members["date"]?.isNull ?? true { return "an entry has no date" }
        return problem("durationSeconds", members["durationSeconds"] ?? .null)
    }

    private func problem(ofActivity members: [String: Value]) -> String? {
        if let problem = notDate("start", members) ?? notDate("end", members) ?? notText("uuid", members)
            ?? notObject("metadata", members)
        {
            return problem
        }
        if let activity = members["activity"], !activity.isNull, activity.string == nil, activity.int == nil {
            return "activity is neither a name nor a number"
        }
        if members["activities"] != nil { return "an entry has activities of its own" }
        return problem(in: members)
    }

    private func missing(_ name: String, _ members: [String: Value]) -> String? {
        members[name]?.string?.isEmpty == false ? nil : "an entry has no \(name)"
    }

    private func notText(_ name: String, _ members: [String: Value]) -> String? {
        (members[name] ?? .null).isNull || members[name]?.string != nil ? nil : "\(name) isn't text"
    }

    private func notObject(_ name: String, _ members: [String: Value]) -> String? {
        (members[name] ?? .null).isNull || members[name]?.object != nil ? nil : "\(name) isn't an object"
    }

    private func notDate(_ name: String, _ members: [String: Value]) -> String? {
        guard let value = members[name], !value.isNull else { return nil }
        return value.string.flatMap { InstantText.parse($0) } == nil ? "\(name) isn't a date" : nil
    }
}
