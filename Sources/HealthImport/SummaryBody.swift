import HealthModel
import JSON

/// `ActivitySummary` as numbers in canonical units: kcal, min, h.
enum SummaryBody {
    enum Result {
        case day(ActivitySummaryRecord)
        case noDay
        case unreadable(String)
    }

    /// Rings came with the first Apple Watch, in 2015. The end of the range only excludes years that no calendar app
    /// would show.
    private static let days =
        LocalDay(year: 2014, month: 1, day: 1).number..<LocalDay(year: 2200, month: 1, day: 1).number

    static func record(_ tree: ElementTree) -> Result {
        guard let date = tree.attribute("dateComponents") else { return .unreadable("there is no dateComponents") }
        guard let day = LocalDay(date) else { return .unreadable("dateComponents isn't a date") }
        // The beginning of the phone's clock, in any zone: it marks a summary that was never filled in.
        if (-2...1).contains(day.number) { return .noDay }
        guard days.contains(day.number) else { return .unreadable("dateComponents isn't a day that can have rings") }
        var members: [String: Value] = [:]
        let energy = HealthType.named("HKQuantityTypeIdentifierActiveEnergyBurned")
        let unit = tree.attribute("activeEnergyBurnedUnit") ?? energy.unit
        let factors = UnitConversion.toCanonical(unit: unit, for: energy)
        for (name, text) in tree.attributes where name != "dateComponents" && !name.hasSuffix("Unit") {
            var copy = text
            guard let number = copy.withUTF8({ DecimalText.parse($0) }) else {
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
