/// The path that a type's samples are delivered under.
public enum UploadMetric: String, Sendable, CaseIterable {
    case steps
    case heartRate = "heart-rate"
    case sleep
    case energy
    case workouts
    case body
    case other
    case daily

    /// "/api/v1/sync/heart-rate"
    public var path: String { "/api/v1/sync/" + rawValue }

    /// Where samples of this HealthKit type go: with the handler that counts them, else under `other`.
    public init(type: String) {
        self =
            switch type {
            case "HKQuantityTypeIdentifierStepCount", "HKQuantityTypeIdentifierDistanceWalkingRunning",
                "HKQuantityTypeIdentifierFlightsClimbed":
                .steps
            case "HKQuantityTypeIdentifierHeartRate", "HKQuantityTypeIdentifierRestingHeartRate",
                "HKQuantityTypeIdentifierHeartRateVariabilitySDNN":
                .heartRate
            case "HKCategoryTypeIdentifierSleepAnalysis": .sleep
            case "HKQuantityTypeIdentifierActiveEnergyBurned", "HKQuantityTypeIdentifierBasalEnergyBurned",
                "HKQuantityTypeIdentifierAppleExerciseTime", "HKCategoryTypeIdentifierAppleStandHour":
                .energy
            case "HKQuantityTypeIdentifierBodyMass", "HKQuantityTypeIdentifierHeight": .body
            default: .other
            }
    }
}
