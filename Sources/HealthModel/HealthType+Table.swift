/// The types in Apple's HKTypeIdentifiers.h, with the units and aggregation styles stated there; and locations.
enum HealthTypeTable {
    static let all: [String: HealthType] = {
        var table: [String: HealthType] = [:]
        func add(_ prefix: String, _ names: String, _ kind: HealthType.Kind, _ unit: String, _ style: HealthType.Style)
        {
            for name in names.split(whereSeparator: \.isWhitespace) {
                let identifier = prefix + name
                table[identifier] = HealthType(identifier: identifier, kind: kind, unit: unit, style: style)
            }
        }
        for (style, unit, names) in quantities { add(HealthType.quantityPrefix, names, .quantity, unit, style) }
        add(HealthType.categoryPrefix, categories, .category, "", .none)
        add(HealthType.categoryPrefix, symptoms, .category, "", .none)
        add(HealthType.correlationPrefix, "BloodPressure Food", .correlation, "", .none)
        add("", HealthType.workoutIdentifier, .workout, "", .none)
        add("", "HKDataTypeSleepDurationGoal", .other, "hr", .none)
        add("HKDataTypeIdentifier", "HeartbeatSeries Audiogram StateOfMind", .other, "", .none)
        // Its value is the ECG's average heart rate.
        add("", HealthType.electrocardiogramIdentifier, .other, "count/min", .none)
        add("", HealthType.visionPrescriptionIdentifier, .other, "", .none)
        add(HealthType.assessmentPrefix, "GAD7 PHQ9", .other, "", .none)
        add("", HealthType.medicationDoseIdentifier, .other, "", .none)
        add("", HealthType.medicationIdentifier, .other, "", .none)
        add(HealthType.clinicalPrefix, clinical, .other, "", .none)
        add("", HealthType.locationIdentifier, .other, "", .none)
        return table
    }()

    private static let quantities: [(HealthType.Style, String, String)] = [
        (
            .cumulative, "count",
            """
            StepCount FlightsClimbed PushCount SwimmingStrokeCount NumberOfTimesFallen InhalerUsage
            NumberOfAlcoholicBeverages NikeFuel
            """
        ),
        (
            .cumulative, "m",
            """
            DistanceWalkingRunning DistanceCycling DistanceSwimming DistanceWheelchair DistanceDownhillSnowSports
            DistanceRowing DistancePaddleSports DistanceCrossCountrySkiing DistanceSkatingSports
            """
        ),
        (.cumulative, "kcal", "ActiveEnergyBurned BasalEnergyBurned DietaryEnergyConsumed"),
        (.cumulative, "min", "AppleExerciseTime AppleMoveTime AppleStandTime TimeInDaylight"),
        (.cumulative, "IU", "InsulinDelivery"),
        (
            .cumulative, "g",
            """
            DietaryCarbohydrates DietaryFiber DietarySugar DietaryFatTotal DietaryFatMonounsaturated
            DietaryFatPolyunsaturated DietaryFatSaturated DietaryProtein
            """
        ),
        (
            .cumulative, "mg",
            """
            DietaryCholesterol DietarySodium DietaryCalcium DietaryIron DietaryThiamin DietaryRiboflavin DietaryNiacin
            DietaryPantothenicAcid DietaryPhosphorus DietaryMagnesium DietaryZinc DietaryCopper DietaryManganese
            DietaryChloride DietaryPotassium DietaryCaffeine DietaryVitaminB6 DietaryVitaminC DietaryVitaminE
            """
        ),
        (
            .cumulative, "mcg",
            """
            DietaryVitaminA DietaryVitaminB12 DietaryVitaminD DietaryVitaminK DietaryFolate DietaryBiotin DietaryIodine
            DietarySelenium DietaryChromium DietaryMolybdenum
            """
        ),
        (.cumulative, "mL", "DietaryWater"),
        (.temporallyWeighted, "count/min", "HeartRate"),
        (.temporallyWeighted, "%", "AtrialFibrillationBurden"),
        (.equivalentLevel, "dBASPL", "EnvironmentalAudioExposure HeadphoneAudioExposure EnvironmentalSoundReduction"),
        (
            .arithmetic, "count/min",
            "RestingHeartRate WalkingHeartRateAverage HeartRateRecoveryOneMinute RespiratoryRate CyclingCadence"
        ),
        (.arithmetic, "ms", "HeartRateVariabilitySDNN RunningGroundContactTime"),
        (.arithmetic, "mL/min·kg", "VO2Max"),
        (.arithmetic, "kg", "BodyMass LeanBodyMass"),
        (
            .arithmetic, "m",
            """
            Height WaistCircumference WalkingStepLength SixMinuteWalkTestDistance RunningStrideLength
            RunningVerticalOscillation UnderwaterDepth
            """
        ),
        (.arithmetic, "count", "BodyMassIndex UVExposure AppleSleepingBreathingDisturbances"),
        (
            .arithmetic, "%",
            """
            BodyFatPercentage OxygenSaturation WalkingAsymmetryPercentage WalkingDoubleSupportPercentage
            AppleWalkingSteadiness PeripheralPerfusionIndex BloodAlcoholContent
            """
        ),
        (.arithmetic, "degC", "BodyTemperature BasalBodyTemperature AppleSleepingWristTemperature WaterTemperature"),
        (.arithmetic, "mg/dL", "BloodGlucose"),
        (.arithmetic, "mmHg", "BloodPressureSystolic BloodPressureDiastolic"),
        (
            .arithmetic, "m/s",
            """
            WalkingSpeed RunningSpeed CyclingSpeed StairAscentSpeed StairDescentSpeed CrossCountrySkiingSpeed
            PaddleSportsSpeed RowingSpeed
            """
        ),
        (.arithmetic, "W", "RunningPower CyclingPower CyclingFunctionalThresholdPower"),
        (.arithmetic, "kcal/hr·kg", "PhysicalEffort"),
        (.arithmetic, "appleEffortScore", "WorkoutEffortScore EstimatedWorkoutEffortScore"),
        (.arithmetic, "L", "ForcedVitalCapacity ForcedExpiratoryVolume1"),
        (.arithmetic, "L/min", "PeakExpiratoryFlowRate"),
        (.arithmetic, "mcS", "ElectrodermalActivity"),
    ]

    private static let categories = """
        SleepAnalysis AppleStandHour MindfulSession HighHeartRateEvent LowHeartRateEvent IrregularHeartRhythmEvent
        AudioExposureEvent EnvironmentalAudioExposureEvent HeadphoneAudioExposureEvent LowCardioFitnessEvent
        AppleWalkingSteadinessEvent SleepApneaEvent HypertensionEvent ToothbrushingEvent HandwashingEvent
        CervicalMucusQuality OvulationTestResult MenstrualFlow IntermenstrualBleeding SexualActivity Contraceptive
        Lactation Pregnancy PregnancyTestResult ProgesteroneTestResult PersistentIntermenstrualBleeding
        ProlongedMenstrualPeriods IrregularMenstrualCycles InfrequentMenstrualCycles BleedingDuringPregnancy
        BleedingAfterPregnancy
        """

    private static let clinical = """
        AllergyRecord ClinicalNoteRecord ConditionRecord CoverageRecord ImmunizationRecord LabResultRecord
        MedicationRecord ProcedureRecord VitalSignRecord
        """

    private static let symptoms = """
        AbdominalCramps Acne AppetiteChanges BladderIncontinence Bloating BreastPain ChestTightnessOrPain Chills
        Constipation Coughing Diarrhea Dizziness DrySkin Fainting Fatigue Fever GeneralizedBodyAche HairLoss Headache
        Heartburn HotFlashes LossOfSmell LossOfTaste LowerBackPain MemoryLapse MoodChanges Nausea NightSweats PelvicPain
        RapidPoundingOrFlutteringHeartbeat RunnyNose ShortnessOfBreath SinusCongestion SkippedHeartbeat SleepChanges
        SoreThroat VaginalDryness Vomiting Wheezing
        """
}
