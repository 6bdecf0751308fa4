import HealthModel

/// One of Open mHealth's schemas, reduced to what is needed to write a number.
struct OpenMHealthSchema: Sendable {
    /// `omh:heart-rate:2.0`.
    let name: String
    let version: String
    /// The member of the body that holds the number.
    let member: String
    /// The unit as the schema spells it.
    let unit: String
    /// The factor that converts the store's number to the schema's.
    var factor = 1.0
    /// Whether its time must be an interval, even one of zero length.
    var needsInterval = false
    /// Another member of the body, with its value.
    var more: (name: String, value: String)?

    /// By HealthKit's identifier. A blood pressure's data point needs both values, so it is made of the pair.
    static let types: [String: OpenMHealthSchema] = {
        var table: [String: OpenMHealthSchema] = [:]
        func add(_ type: String, _ schema: OpenMHealthSchema) { table["HKQuantityTypeIdentifier" + type] = schema }
        let rate = OpenMHealthSchema(name: "heart-rate", version: "2.0", member: "heart_rate", unit: "beats/min")
        var resting = rate
        resting.more = ("temporal_relationship_to_physical_activity", "at rest")
        var active = rate
        active.more = ("temporal_relationship_to_physical_activity", "active")
        add("HeartRate", rate)
        add("RestingHeartRate", resting)
        add("WalkingHeartRateAverage", active)
        add("StepCount", steps)
        add("ActiveEnergyBurned", energy)
        add("BodyMass", .init(name: "body-weight", version: "2.0", member: "body_weight", unit: "kg"))
        add("Height", .init(name: "body-height", version: "2.0", member: "body_height", unit: "m"))
        add("BodyMassIndex", .init(name: "body-mass-index", version: "3.0", member: "body_mass_index", unit: "kg/m^2"))
        add(
            "BodyFatPercentage",
            .init(
                name: "body-fat-percentage", version: "2.0", member: "body_fat_percentage", unit: "%", factor: 100))
        add(
            "OxygenSaturation",
            .init(name: "oxygen-saturation", version: "2.0", member: "oxygen_saturation", unit: "%", factor: 100))
        add(
            "RespiratoryRate",
            .init(name: "respiratory-rate", version: "2.0", member: "respiratory_rate", unit: "breaths/min"))
        add("BodyTemperature", .init(name: "body-temperature", version: "4.0", member: "body_temperature", unit: "C"))
        add("BloodGlucose", .init(name: "blood-glucose", version: "4.0", member: "blood_glucose", unit: "mg/dL"))
        return table
    }()

    static let bloodPressure = [
        OpenMHealthSchema(name: "blood-pressure", version: "4.0", member: "systolic_blood_pressure", unit: "mmHg"),
        OpenMHealthSchema(name: "blood-pressure", version: "4.0", member: "diastolic_blood_pressure", unit: "mmHg"),
    ]

    static let steps = OpenMHealthSchema(
        name: "step-count", version: "3.0", member: "step_count", unit: "steps", needsInterval: true)
    static let energy = OpenMHealthSchema(
        name: "calories-burned", version: "2.0", member: "kcal_burned", unit: "kcal", needsInterval: true)
    static let sleep = OpenMHealthSchema(
        name: "sleep-duration", version: "2.0", member: "sleep_duration", unit: "min", needsInterval: true)

    func number(_ value: Double) -> Double { factor == 1 ? value : (value * factor).rounded(decimals: 9) }
}
