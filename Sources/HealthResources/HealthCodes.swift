import HealthModel

/// The codes for sample types. They include only codes that a public source gives and that claim nothing beyond what
/// HealthKit says. `docs/fhir.md` lists them.
package enum HealthCodes {
    /// By HealthKit's identifier.
    package static let types: [String: HealthCoding] = {
        var table: [String: HealthCoding] = [:]
        table[HealthType.bloodPressureIdentifier] = HealthCoding(
            codes: [.loinc("85354-9", "Blood pressure panel with all children optional", .vitalSigns)],
            category: .vitalSigns, unit: nil, factor: 1)
        func add(
            _ name: String, _ category: HealthCoding.Category?, _ codes: [HealthCode], unit: String? = nil,
            factor: Double = 1
        ) {
            table["HKQuantityTypeIdentifier" + name] = HealthCoding(
                codes: codes, category: category, unit: unit, factor: factor)
        }

        add(
            "HeartRate", .vitalSigns,
            [.loinc("8867-4", "Heart rate", .vitalSigns), .snomed("364075005", "Heart rate", .danishCore)])
        add(
            "RestingHeartRate", .vitalSigns,
            [
                .loinc("40443-4", "Heart rate --resting", .activityOfDay),
                .snomed("444981005", "Resting heart rate", .danishCore),
            ])
        add(
            "HeartRateVariabilitySDNN", .vitalSigns,
            [
                .loinc("80404-7", "R-R interval.standard deviation (Heart rate variability)", .healthKitOnFHIR)
            ])
        add(
            "RespiratoryRate", .vitalSigns,
            [
                .loinc("9279-1", "Respiratory rate", .vitalSigns),
                .snomed("86290005", "Respiratory rate", .openMHealth),
            ])
        // FHIR's profile requires the first code, whatever the method of measurement.
        add(
            "OxygenSaturation", .vitalSigns,
            [
                .loinc("2708-6", "Oxygen saturation in Arterial blood", .vitalSigns),
                .loinc("59408-5", "Oxygen saturation in Arterial blood by Pulse oximetry", .healthKitOnFHIR),
            ])
        add(
            "BodyTemperature", .vitalSigns,
            [
                .loinc("8310-5", "Body temperature", .vitalSigns),
                .snomed("386725007", "Body temperature", .openMHealth),
            ])
        add(
            "BloodPressureSystolic", .vitalSigns,
            [
                .loinc("8480-6", "Systolic blood pressure", .vitalSigns),
                .snomed("271649006", "Systolic blood pressure", .danishCore),
            ])
        add(
            "BloodPressureDiastolic", .vitalSigns,
            [
                .loinc("8462-4", "Diastolic blood pressure", .vitalSigns),
                .snomed("271650006", "Diastolic blood pressure", .danishCore),
            ])
        add(
            "BodyMass", .vitalSigns,
            [.loinc("29463-7", "Body weight", .vitalSigns), .snomed("27113001", "Body weight", .danishCore)])
        // FHIR's profile of body height allows only centimetres and inches.
        add(
            "Height", .vitalSigns,
            [.loinc("8302-2", "Body height", .vitalSigns), .snomed("1153637007", "Body height", .danishCore)],
            unit: "cm", factor: 100)
        add(
            "BodyMassIndex", .vitalSigns,
            [
                .loinc("39156-5", "Body mass index (BMI) [Ratio]", .vitalSigns),
                .snomed("60621009", "Body mass index", .openMHealth),
            ], unit: "kg/m2")
        add(
            "BodyFatPercentage", .exam, [.loinc("41982-0", "Percentage of body fat Measured", .healthKitOnFHIR)])
        add("LeanBodyMass", .exam, [.loinc("91557-9", "Lean body weight", .healthKitOnFHIR)])
        add("BloodGlucose", .laboratory, [.loinc("2339-0", "Glucose [Mass/volume] in Blood", .usCore)])
        add("ForcedExpiratoryVolume1", .exam, [.loinc("20150-9", "FEV1", .healthKitOnFHIR)])
        add(
            "ForcedVitalCapacity", .exam,
            [.loinc("19870-5", "Forced vital capacity [Volume] Respiratory system", .healthKitOnFHIR)])
        add(
            "PeripheralPerfusionIndex", .exam,
            [.loinc("61006-3", "Perfusion index Tissue by Pulse oximetry", .healthKitOnFHIR)])
        add(
            "StepCount", .activity,
            [.loinc("55423-8", "Number of steps in unspecified time Pedometer", .healthKitOnFHIR)], unit: "{steps}")
        add(
            "FlightsClimbed", .activity,
            [.loinc("100304-5", "Flights climbed [#] Reporting Period", .healthKitOnFHIR)])
        add(
            "DistanceSwimming", .activity,
            [.loinc("93816-7", "Swimming distance unspecified time", .healthKitOnFHIR)])
        add(
            "PushCount", .activity,
            [.loinc("96502-0", "Number of wheelchair pushes per time period", .healthKitOnFHIR)])
        add("DietaryEnergyConsumed", nil, [.loinc("9052-2", "Calorie intake total", .healthKitOnFHIR)])
        return table
    }()
}
