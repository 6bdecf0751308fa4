/// A daily figure as its handler declares it.
package struct ResourceFigure: Sendable, Equatable {
    /// Its path in a day's summary: the name of a member, or of a member within a member.
    package let path: [String]
    /// The unit as shown to people; empty if there is none.
    package let unit: String
    /// Whether a value in `%` is a number from 0 to 1.
    package let isFraction: Bool

    package init(path: [String], unit: String, isFraction: Bool = false) {
        (self.path, self.unit, self.isFraction) = (path, unit, isFraction)
    }

    /// `heartRate.average`.
    package var name: String { path.joined(separator: ".") }
}

extension HealthCodes {
    /// The codes by the name of a daily figure; figures of nights are named like the day's, and those of workouts begin
    /// with `workout.`.
    package static let figures: [String: HealthCoding] = {
        var table: [String: HealthCoding] = [:]
        func add(_ name: String, _ codes: [HealthCode], unit: String? = nil, factor: Double = 1) {
            table[name] = HealthCoding(codes: codes, category: nil, unit: unit, factor: factor)
        }
        func add(_ name: String, as type: String) {
            table[name] = HealthCodes.types["HKQuantityTypeIdentifier" + type]
        }

        add("steps", [.loinc("41950-7", "Number of steps in 24 hour Measured", .activityOfDay)], unit: "{steps}")
        add("heartRate.max", [.loinc("8873-2", "Heart rate 24 hour maximum", .activityOfDay)])
        add("heartRate.resting", as: "RestingHeartRate")
        add("hrvSDNNMilliseconds", as: "HeartRateVariabilitySDNN")
        add("bodyMassKilograms", as: "BodyMass")
        add("heightMeters", as: "Height")
        add("bodyMassIndex", as: "BodyMassIndex")
        add("bodyFatFraction", as: "BodyFatPercentage")
        add(
            "sleep.asleepMinutes",
            [
                .loinc("93832-4", "Sleep duration", .sleep), .snomed("248263006", "Duration of sleep", .openMHealth),
            ])
        add("sleep.coreMinutes", [.loinc("93830-8", "Light sleep duration", .sleep)])
        add("sleep.deepMinutes", [.loinc("93831-6", "Deep sleep duration", .sleep)])
        add("sleep.remMinutes", [.loinc("93829-0", "REM sleep duration", .sleep)])
        add(
            "workout",
            [
                .loinc("73985-4", "Exercise activity", .activity),
                .snomed("68130003", "Physical activity", .openMHealth),
            ])
        add("workout.duration", [.loinc("55411-3", "Exercise duration", .activity)])
        return table
    }()
}
