/// What is known of a kind of sample: its HealthKit identifier, its canonical unit and how its samples add up.
public struct HealthType: Hashable, Sendable {
    /// What HealthKit's class of samples it is.
    public enum Kind: String, Sendable {
        case quantity, category, correlation, workout, other
    }

    /// HealthKit's aggregation style.
    public enum Style: String, Sendable {
        /// Samples add up; overlapping sources are merged.
        case cumulative
        /// The plain mean of the samples.
        case arithmetic
        /// The mean weighted by duration (heart rate).
        case temporallyWeighted
        /// The energetic mean of sound levels, weighted by duration.
        case equivalentLevel
        /// Not a quantity, or unknown.
        case none
    }

    /// The full raw identifier: `HKQuantityTypeIdentifierStepCount`.
    public let identifier: String
    /// Which class of samples.
    public let kind: Kind
    /// The canonical unit as a HealthKit unit string, in which every store and message holds values; empty when there is none.
    ///
    /// Frequencies are `count/min`, not HealthKit's own `count/s`: exports and pushes print beats and breaths a minute, so
    /// values stay the very numbers that the input held. A `%` is a fraction from 0 to 1, as HealthKit prints it.
    public let unit: String
    /// How its samples add up.
    public let style: Style

    /// A type with what is given; `named` and `known` give those of the table.
    public init(identifier: String, kind: Kind, unit: String, style: Style) {
        self.identifier = identifier
        self.kind = kind
        self.unit = unit
        self.style = style
    }

    /// The type, if it is in the table; nil otherwise.
    public static func known(_ identifier: String) -> HealthType? { HealthTypeTable.all[identifier] }

    /// The type; one that isn't in the table has its kind guessed from the identifier's prefix, no unit and no style.
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

    static let quantityPrefix = "HKQuantityTypeIdentifier"
    static let categoryPrefix = "HKCategoryTypeIdentifier"
    static let correlationPrefix = "HKCorrelationTypeIdentifier"
    /// The identifier of workouts.
    public static let workoutIdentifier = "HKWorkoutTypeIdentifier"

    // As HealthKit's own constants have them; the last two since iOS 26.
    package static let electrocardiogramIdentifier = "HKDataTypeIdentifierElectrocardiogram"
    package static let visionPrescriptionIdentifier = "HKVisionPrescriptionTypeIdentifier"
    package static let assessmentPrefix = "HKScoredAssessmentTypeIdentifier"
    package static let clinicalPrefix = "HKClinicalTypeIdentifier"
    package static let medicationDoseIdentifier = "HKMedicationDoseEventTypeIdentifierMedicationDoseEvent"
    package static let medicationIdentifier = "HKDataTypeUserAnnotatedMedicationConcept"

    /// Every type of the table, by identifier.
    public static var allKnown: [String: HealthType] { HealthTypeTable.all }
}
