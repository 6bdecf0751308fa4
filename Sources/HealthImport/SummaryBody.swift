import HealthModel

/// `ActivitySummary` in numbers of canonical units: kcal, min, h.
enum SummaryBody {
    enum Result {
        case day(ActivitySummaryRecord)
        case noDay
        case unreadable(String)
    }

    static func record(_ tree: ElementTree) -> Result {
        guard let date = tree.attribute("dateComponents") else { return .unreadable("there is no dateComponents") }
        guard let day = LocalDay(date) else { return .unreadable("dateComponents isn't a date") }
        guard day.number >= 0 else { return .noDay }
        var members: [String: Value] = [:]
        let energy = HealthType.named("HKQuantityTypeIdentifierActiveEnergyBurned")
        let unit = tree.attribute("activeEnergyBurnedUnit") ?? energy.unit
        let factors = UnitConversion.toCanonical(unit: unit, for: energy)
        for (name, text) in tree.attributes where name != "dateComponents" && !name.hasSuffix("Unit") {
            var copy = text
            guard let number = copy.withUTF8({ NumberText.parse($0) }) else {
                return .unreadable("\(name) isn't a number")
            }
            guard name.hasPrefix("activeEnergyBurned") else {
                members[name] = .number(number)
                continue
            }
            guard let factors else { return .unreadable("the unit of activeEnergyBurned isn't one of energy") }
            members[name] = .number(number * factors.scale + factors.offset)
        }
        return .day(ActivitySummaryRecord(date: date, payload: Value.object(members).json()))
    }
}
