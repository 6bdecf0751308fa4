import HealthModel

/// A public terminology's code for what is measured, and the source that gives its meaning.
package struct HealthCode: Sendable, Hashable {
    /// The raw value is FHIR's name for the terminology.
    package enum System: String, Sendable {
        case loinc = "http://loinc.org"
        case snomed = "http://snomed.info/sct"
    }

    /// A public page or repository that gives the code with its meaning.
    package enum Source: String, Sendable, CaseIterable {
        /// FHIR's value set of vital signs.
        case vitalSigns = "https://hl7.org/fhir/valueset-observation-vitalsignresult.html"
        /// HL7's guide to physical activity, for a single stretch of activity.
        case activity = "https://hl7.org/fhir/us/physical-activity/ValueSet-pa-observation-code-activity.html"
        /// The same guide, for a day's totals.
        case activityOfDay = "https://hl7.org/fhir/us/physical-activity/ValueSet-pa-observation-code-time.html"
        /// HL7's guide to personal health records.
        case sleep = "https://hl7.org/fhir/uv/phr/2025May/ValueSet-pcd-sleep-observation-code.html"
        /// An example from US Core.
        case usCore = "https://hl7.org/fhir/us/core/STU3.1/Observation-blood-glucose.html"
        /// The Danish core guide.
        case danishCore = "https://hl7.dk/fhir/core/ValueSet-dk-core-SCTBasicObservation.html"
        /// The library that apps use to send HealthKit's samples as FHIR.
        case healthKitOnFHIR = "https://github.com/StanfordBDHG/HealthKitOnFHIR"
        /// The references in Open mHealth's schemas.
        case openMHealth = "https://github.com/openmhealth/schemas"

        /// For people.
        var title: String {
            switch self {
            case .vitalSigns: "vital signs"
            case .activity: "activity"
            case .activityOfDay: "activity of a day"
            case .sleep: "health records"
            case .usCore: "US Core"
            case .danishCore: "DK Core"
            case .healthKitOnFHIR: "HealthKitOnFHIR"
            case .openMHealth: "Open mHealth"
            }
        }
    }

    package let system: System
    package let code: String
    /// The display text as the source gives it.
    package let display: String
    package let source: Source

    static func loinc(_ code: String, _ display: String, _ source: Source) -> HealthCode {
        HealthCode(system: .loinc, code: code, display: display, source: source)
    }

    static func snomed(_ code: String, _ display: String, _ source: Source) -> HealthCode {
        HealthCode(system: .snomed, code: code, display: display, source: source)
    }

    /// FHIR's `Coding`.
    var coding: Value {
        ["system": .string(system.rawValue), "code": .string(code), "display": .string(display)]
    }
}

/// How a quantity is written in FHIR, where that doesn't follow from its unit.
package struct HealthCoding: Sendable, Equatable {
    /// A code of FHIR's `observation-category`.
    package enum Category: String, Sendable {
        case vitalSigns = "vital-signs"
        case activity, laboratory, exam
    }

    package var codes: [HealthCode]
    package var category: Category?
    /// The unit in UCUM, where FHIR requires a unit other than the store's.
    package var unit: String?
    /// How many of these units equal one of the store's.
    package var factor: Double
}
