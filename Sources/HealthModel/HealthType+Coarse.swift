/// What is known about samples from senders that round, or leave something out (`RecordFlags.coarse`).
extension HealthType {
    /// By how much such a value may differ from the exact one, in the canonical unit: half of the last digit that the
    /// senders keep.
    package var coarseness: Double {
        if Self.wholeNumbers.contains(identifier) { return 0.5 }
        return Self.byUnit[unit] ?? 0
    }

    private static let wholeNumbers: Set = [
        quantityPrefix + "StepCount", quantityPrefix + "HeartRate", quantityPrefix + "RestingHeartRate",
    ]
    /// Glucose is rounded in mmol/L.
    private static let byUnit: [String: Double] = [
        "m": 0.0005, "mL": 0.5, "kg": 0.005, "kcal": 0.005, "degC": 0.005, "g": 0.005, "mg": 0.005, "mcg": 0.005,
        "mg/dL": 0.0902, "%": 0.0005, "mmHg": 0.05, "ms": 0.05, "count/min": 0.05, "mL/min·kg": 0.05,
    ]

    package static let activeEnergy = quantityPrefix + "ActiveEnergyBurned"
    package static let restingEnergy = quantityPrefix + "BasalEnergyBurned"
    /// Resting or active energy, of which it isn't known which.
    package static let totalEnergy = quantityPrefix + "TotalEnergyBurned"

    /// How much a coarse record's type is worth against that of another record with the same UUID: energy that came
    /// without saying which it is may turn out to be active, or resting.
    package static func certainty(ofCoarse identifier: String) -> Int {
        switch identifier {
        case totalEnergy: 0
        case restingEnergy: 1
        default: 2
        }
    }
}
