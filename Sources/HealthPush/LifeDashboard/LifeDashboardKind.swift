import HealthModel

/// What the records of one of the payload's lists are, by the list's key.
///
/// https://github.com/owen282000/life-dashboard-companion-app/blob/main/docs/webhook.md
enum LifeDashboardKind {
    /// A number that was read off or entered, or of a stretch of time.
    case quantity(LifeDashboardNumber)
    /// A number whose type depends on the phone.
    case variability
    /// Resting and active energy together: what `active_calories` has too is active, the rest may be resting.
    case totalEnergy
    case workout
    case sleep
    case bloodPressure
    case food
    /// An event that has a start and perhaps an end, and a word for its value.
    case event(LifeDashboardEvent)
    /// What the app derives from records that it sends too.
    case derived

    /// The order in which lists are read: `active_calories` before `total_calories`.
    static let keys = table.map(\.key)
    static let named = Dictionary(uniqueKeysWithValues: table.map { ($0.key, $0.kind) })

    private static let table: [(key: String, kind: LifeDashboardKind)] = [
        ("active_calories", .quantity(.init("calories", "ActiveEnergyBurned", "kcal"))),
        ("total_calories", .totalEnergy),
        ("steps", .quantity(.init("count", "StepCount", "count"))),
        // It may be of any activity, and doesn't say which.
        ("distance", .quantity(.init("meters", "Distance", "m"))),
        ("hydration", .quantity(.init("liters", "DietaryWater", "L"))),
        ("heart_rate", .quantity(.init("bpm", "HeartRate", "count/min"))),
        ("resting_heart_rate", .quantity(.init("bpm", "RestingHeartRate", "count/min"))),
        ("heart_rate_variability", .variability),
        ("respiratory_rate", .quantity(.init("rate", "RespiratoryRate", "count/min"))),
        ("oxygen_saturation", .quantity(.init("percentage", "OxygenSaturation", "%", scale: 0.01))),
        ("body_fat", .quantity(.init("percentage", "BodyFatPercentage", "%", scale: 0.01))),
        ("vo2_max", .quantity(.init("vo2_ml_per_min_per_kg", "VO2Max", "mL/min·kg"))),
        ("weight", .quantity(.init("kilograms", "BodyMass", "kg"))),
        ("lean_body_mass", .quantity(.init("kilograms", "LeanBodyMass", "kg"))),
        ("bone_mass", .quantity(.init("kilograms", "BoneMass", "kg"))),
        ("body_water_mass", .quantity(.init("kilograms", "BodyWaterMass", "kg"))),
        ("height", .quantity(.init("meters", "Height", "m"))),
        ("body_temperature", .quantity(.init("celsius", "BodyTemperature", "degC"))),
        ("basal_body_temperature", .quantity(.init("celsius", "BasalBodyTemperature", "degC"))),
        ("skin_temperature", .quantity(.init("delta_celsius", "SkinTemperatureDelta", "degC"))),
        ("blood_glucose", .quantity(.init("mmol_per_liter", "BloodGlucose", "mmol/L"))),
        ("basal_metabolic_rate", .quantity(.init("kilocalories_per_day", "BasalMetabolicRate", "kcal/d"))),
        ("exercise", .workout),
        ("sleep", .sleep),
        ("blood_pressure", .bloodPressure),
        ("nutrition", .food),
        ("mindfulness", .event(.init("MindfulSession"))),
        (
            "menstruation_flow",
            .event(.init("MenstrualFlow", "flow", ["unknown": 1, "light": 2, "medium": 3, "heavy": 4]))
        ),
        ("menstruation_period", .derived),
        ("intermenstrual_bleeding", .event(.init("IntermenstrualBleeding"))),
        (
            "ovulation_test",
            .event(
                .init(
                    "OvulationTestResult", "result", ["negative": 1, "positive": 2, "inconclusive": 3, "high": 4]))
        ),
        (
            "cervical_mucus",
            .event(
                .init(
                    "CervicalMucusQuality", "appearance",
                    ["dry": 1, "sticky": 2, "creamy": 3, "watery": 4, "egg_white": 5]))
        ),
        ("sexual_activity", .event(.init("SexualActivity"))),
    ]

    /// The stages of sleep, and the time in bed, as HealthKit's numbers.
    static let stages: [String: Int] = [
        "in_bed": 0, "sleeping": 1, "awake": 2, "awake_in_bed": 2, "light": 3, "deep": 4, "rem": 5,
    ]
}

/// A kind with one number.
struct LifeDashboardNumber {
    let member: String
    let type: String
    let unit: String
    let factors: UnitFactors

    /// - Parameters:
    ///   - name: the type's identifier without its prefix.
    ///   - unit: that of the number, times `scale`; a type that isn't HealthKit's keeps it.
    init(_ member: String, _ name: String, _ unit: String, scale: Double = 1) {
        self.member = member
        type = HealthType.quantityPrefix + name
        let known = HealthType.named(type)
        let found = UnitConversion.toCanonical(unit: unit, for: known)
        self.unit = found == nil ? unit : known.unit
        factors = UnitFactors(scale: (found?.scale ?? 1) * scale, offset: found?.offset ?? 0)
    }
}

/// A kind that is a category in HealthKit.
struct LifeDashboardEvent {
    let type: String
    /// The member that says which value it has; nil if there is only one.
    let member: String?
    let values: [String: Int]

    init(_ name: String, _ member: String? = nil, _ values: [String: Int] = [:]) {
        (type, self.member, self.values) = (HealthType.categoryPrefix + name, member, values)
    }
}
