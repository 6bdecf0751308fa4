extension PlausibilityLimit {
    package static func of(_ type: HealthType) -> PlausibilityLimit {
        var limit = numbers(of: type)
        limit.longest = longest(type)
        limit.mayGoOn = goingOn.contains(type.identifier)
        return limit
    }

    private static func numbers(of type: HealthType) -> PlausibilityLimit {
        if let limit = table[type.identifier] { return limit }
        guard type.kind == .quantity else { return PlausibilityLimit(values: unlimited, needsNumber: false) }
        // Nothing is colder than absolute zero.
        if type.unit == "degC" { return PlausibilityLimit(values: -273.15...(.infinity)) }
        // Apart from temperatures, only sound levels, and types whose meaning is unknown, can be below zero.
        let mayBeNegative = ["dBASPL", ""].contains(type.unit)
        return PlausibilityLimit(values: mayBeNegative ? unlimited : 0...(.infinity))
    }

    private static let unlimited = -Double.infinity...Double.infinity

    private static let table: [String: PlausibilityLimit] = {
        let limits: [(String, PlausibilityLimit)] = [
            ("HeartRate", PlausibilityLimit(values: 20...250)),
            ("RestingHeartRate", PlausibilityLimit(values: 25...150)),
            ("HeartRateVariabilitySDNN", PlausibilityLimit(values: 0...500)),
            ("StepCount", PlausibilityLimit(values: 0...(.infinity), perSecond: 5)),
            ("DistanceWalkingRunning", PlausibilityLimit(values: 0...(.infinity), perSecond: 12)),
            ("ActiveEnergyBurned", PlausibilityLimit(values: 0...(.infinity), perSecond: 40.0 / 60)),
            // The lower limit of a day's resting energy can't be applied to one sample, which may cover any part of the
            // day.
            ("BasalEnergyBurned", PlausibilityLimit(values: 0...(.infinity), perSecond: 5000.0 / 86_400)),
            ("BodyMass", PlausibilityLimit(values: 1...650)),
            ("LeanBodyMass", PlausibilityLimit(values: 1...650)),
            ("Height", PlausibilityLimit(values: 0.3...2.8)),
            ("OxygenSaturation", PlausibilityLimit(values: 0...1)),
            ("BodyFatPercentage", PlausibilityLimit(values: 0...1)),
        ]
        return Dictionary(
            limits.map { (HealthType.quantityPrefix + $0.0, $0.1) }, uniquingKeysWith: { first, _ in first })
    }()

    private static func longest(_ type: HealthType) -> Int64 {
        if goingOn.contains(type.identifier) { return SampleTimes.longest }
        if cycles.contains(type.identifier) { return 2 * 366 * SampleTimes.day }
        if HealthType.known(type.identifier) == nil { return 366 * SampleTimes.day }
        let isSession = type.kind == .workout || sessions.contains(type.identifier)
        // What the system evaluates over weeks (atrial fibrillation, steadiness, sleep apnea) is reported as a single
        // sample.
        return isSession || type.style == .cumulative ? 4 * SampleTimes.day : 35 * SampleTimes.day
    }

    private static func categories(_ names: String) -> Set<String> {
        Set(names.split(separator: " ").map { HealthType.categoryPrefix + $0 })
    }

    private static let sessions = categories("SleepAnalysis MindfulSession AppleStandHour")
    private static let goingOn = categories("Contraceptive Lactation Pregnancy")
    /// These describe cycles over several months.
    private static let cycles = categories(
        "PersistentIntermenstrualBleeding ProlongedMenstrualPeriods IrregularMenstrualCycles InfrequentMenstrualCycles")
}
