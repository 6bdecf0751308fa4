/// What is known about a kind of sample: its HealthKit identifier, its canonical unit and how its samples are
/// aggregated.
public struct HealthType: Hashable, Sendable {
    /// Which class of HealthKit samples it is.
    public enum Kind: String, Sendable {
        case quantity, category, correlation, workout, other
    }

    /// HealthKit's aggregation style.
    public enum Style: String, Sendable {
        /// Samples are added up; overlapping sources are merged.
        case cumulative
        /// The plain mean of the samples.
        case arithmetic
        /// The mean over the time that samples stand for (heart rate).
        case temporallyWeighted
        /// The energetic mean of sound levels over time.
        case equivalentLevel
        /// Not a quantity, or unknown.
        case none
    }

    /// The full raw identifier: `HKQuantityTypeIdentifierStepCount`.
    public let identifier: String
    /// Its class of samples.
    public let kind: Kind
    /// The canonical unit as a HealthKit unit string; values in every store and message are in this unit. Empty when
    /// the type has no unit.
    ///
    /// Frequencies are in `count/min`, not HealthKit's own `count/s`. Exports and pushes give beats and breaths per
    /// minute, so values stay exactly as in the input. A value in `%` is a fraction from 0 to 1, as HealthKit prints
    /// it.
    public let unit: String
    /// How its samples are aggregated.
    public let style: Style

    /// A type made of these values; `named` and `known` return the types in the table.
    public init(identifier: String, kind: Kind, unit: String, style: Style) {
        (self.identifier, self.kind, self.unit, self.style) = (identifier, kind, unit, style)
    }

    /// The type, if it is in the table; nil otherwise.
    public static func known(_ identifier: String) -> HealthType? { HealthTypeTable.all[identifier] }

    /// A type in a log: HealthKit's identifier, or "other" for a type that a person or a program named.
    package static func logged(_ identifier: String) -> String {
        identifier.hasPrefix("HK") || known(identifier) != nil ? identifier : "other"
    }

    /// The type. Statistics have the kind, unit and style of their type. For any other type that isn't in the table,
    /// the kind is guessed from the identifier's prefix, and there is no unit or style.
    public static func named(_ identifier: String) -> HealthType {
        if let type = known(identifier) { return type }
        if let base = base(ofStatistics: identifier).flatMap(known) {
            return HealthType(identifier: identifier, kind: base.kind, unit: base.unit, style: base.style)
        }
        return HealthType(identifier: identifier, kind: guessedKind(identifier), unit: "", style: .none)
    }

    private static func guessedKind(_ identifier: String) -> Kind {
        if identifier.hasPrefix(quantityPrefix) { return .quantity }
        if identifier.hasPrefix(categoryPrefix) { return .category }
        if identifier.hasPrefix(correlationPrefix) { return .correlation }
        return identifier == workoutIdentifier ? .workout : .other
    }

    /// Whether samples of a type may be parts of a correlation: HealthKit has two, blood pressure and food.
    package static func mayBePart(_ identifier: String) -> Bool {
        guard identifier.hasPrefix(quantityPrefix) else { return false }
        return ["BloodPressure", "Dietary"].contains { identifier.dropFirst(quantityPrefix.count).hasPrefix($0) }
    }

    package static let quantityPrefix = "HKQuantityTypeIdentifier"
    package static let categoryPrefix = "HKCategoryTypeIdentifier"
    static let correlationPrefix = "HKCorrelationTypeIdentifier"
    /// Samples that have other samples as their parts.
    package static let bloodPressure = correlationPrefix + "BloodPressure"
    package static let food = correlationPrefix + "Food"
    /// The identifier for workouts.
    public static let workoutIdentifier = "HKWorkoutTypeIdentifier"
    /// Where a person was: Core Location's class, not a HealthKit type.
    public static let locationIdentifier = "CLLocation"

    // As in HealthKit's own constants; the last two have existed since iOS 26.
    package static let electrocardiogramIdentifier = "HKDataTypeIdentifierElectrocardiogram"
    package static let visionPrescriptionIdentifier = "HKVisionPrescriptionTypeIdentifier"
    package static let stateOfMindIdentifier = "HKDataTypeIdentifierStateOfMind"
    package static let bloodPressureIdentifier = correlationPrefix + "BloodPressure"
    /// The types of a blood pressure's two samples: systolic, diastolic.
    package static let bloodPressureParts = [
        quantityPrefix + "BloodPressureSystolic", quantityPrefix + "BloodPressureDiastolic",
    ]
    package static let assessmentPrefix = "HKScoredAssessmentTypeIdentifier"
    package static let clinicalPrefix = "HKClinicalTypeIdentifier"
    package static let medicationDoseIdentifier = "HKMedicationDoseEventTypeIdentifierMedicationDoseEvent"
    package static let medicationIdentifier = "HKDataTypeUserAnnotatedMedicationConcept"

    /// Every type in the table, by identifier.
    public static var allKnown: [String: HealthType] { HealthTypeTable.all }
}
