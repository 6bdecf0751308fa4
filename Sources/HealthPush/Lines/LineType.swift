import HealthModel

/// The type of a line: HealthKit's identifier, with its prefix or without (`StepCount`), or words in any letter case
/// (`step count`, `heart rate`), as the action *Find Health Samples* of Shortcuts and Health Auto Export name types in
/// English.
enum LineType {
    static let bloodPressure = "type is two: send lines of BloodPressureSystolic and BloodPressureDiastolic"
    static let unknown = "type isn't known: send HealthKit's name, such as HeartRate"

    /// - Throws: `SampleProblem` for a text that is no quantity's or category's name.
    static func named(_ text: String) throws(SampleProblem) -> HealthType {
        guard !text.isEmpty else { throw SampleProblem(reason: "type is missing") }
        guard text.utf8.count <= 200, let type = found(text) else { throw SampleProblem(reason: unknown) }
        guard type.kind != .correlation else { throw SampleProblem(reason: bloodPressure) }
        guard type.kind == .quantity || type.kind == .category else { throw SampleProblem(reason: unknown) }
        return type
    }

    private static func found(_ text: String) -> HealthType? {
        // A sum or mean has a type of its own, and a line has none.
        if text.hasPrefix("HK") { return HealthType.base(ofStatistics: text) == nil ? HealthType.named(text) : nil }
        if let identifier = shortcuts[AutoExportMetric.key(text)] { return HealthType.named(identifier) }
        if let metric = AutoExportMetric.named(text) { return metric.type }
        return AutoExportCategory.identifier(of: text).map { HealthType.named($0) }
    }

    /// The names in Shortcuts that neither HealthKit nor Health Auto Export has.
    private static let shortcuts: [String: String] = {
        let quantities = [
            "steps": "StepCount", "resting calories": "BasalEnergyBurned", "exercise minutes": "AppleExerciseTime",
            "stand minutes": "AppleStandTime", "move minutes": "AppleMoveTime", "VO₂ max": "VO2Max",
            "systolic blood pressure": "BloodPressureSystolic", "diastolic blood pressure": "BloodPressureDiastolic",
            "insulin": "InsulinDelivery", "swimming strokes": "SwimmingStrokeCount", "wheelchair pushes": "PushCount",
        ]
        let names = quantities.map { (AutoExportMetric.key($0), "HKQuantityTypeIdentifier" + $1) }
        return Dictionary(names + [("sleep", HealthType.sleepIdentifier)], uniquingKeysWith: { first, _ in first })
    }()
}
