import HealthModel

/// What a metric's name stands for.
struct AutoExportMetric {
    /// How its entries are read.
    enum Form {
        /// `{date, qty}`, or `{date, Min, Avg, Max}`.
        case quantity
        /// `{date, systolic, diastolic}`.
        case bloodPressure
        /// Stages, or nights.
        case sleep
        /// Sessions and events: `{date, qty}` or `{start, end, qty}`, possibly with a `value` that is a name.
        case category
        /// `{date, "Unspecified", "Protection Used", "Protection Not Used"}`, which are counts.
        case sexualActivity
        /// As a quantity, in its own unit.
        case unknown
    }

    let type: HealthType
    let form: Form

    /// Nil for an unknown name. Case and the characters between words don't matter, because versions of the app differ
    /// in them.
    static func named(_ name: String) -> AutoExportMetric? {
        let key = key(name)
        let full = HealthType.known(name).flatMap { [.quantity, .category].contains($0.kind) ? name : nil }
        guard let identifier = full ?? others[key] ?? own[key] else { return nil }
        let type = HealthType.named(identifier)
        let form = forms[identifier] ?? (type.kind == .quantity ? .quantity : .category)
        return AutoExportMetric(type: type, form: form)
    }

    /// What a name that isn't known stands for: most of the app's names are HealthKit's, so `new_metric` is taken for
    /// `HKQuantityTypeIdentifierNewMetric`, as an export would call it. Nil for a name that can't be a type's.
    static func unknown(_ name: String) -> AutoExportMetric? {
        let isWhole = name.hasPrefix("HK") && name.contains("TypeIdentifier")
        let words = name.split { !$0.isLetter && !$0.isNumber }
        let identifier =
            isWhole ? name : quantity + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        guard !words.isEmpty, identifier.utf8.count <= longestName else { return nil }
        return AutoExportMetric(type: HealthType.named(identifier), form: .unknown)
    }

    /// The category of the same name; nil if the identifier isn't a quantity's.
    var categoryIdentifier: String? {
        guard type.identifier.hasPrefix(Self.quantity) else { return nil }
        return Self.category + type.identifier.dropFirst(Self.quantity.count)
    }

    /// In bytes, without the suffix of statistics.
    private static let longestName = 180

    /// Whether HealthKit has the type's sums only over a time in which a device measured them. Sums that people enter
    /// (food, drinks, doses) have an instant.
    var isMeasuredOverTime: Bool {
        guard form == .quantity, type.style == .cumulative else { return false }
        let name = type.identifier.dropFirst(Self.quantity.count)
        return !name.hasPrefix("Dietary") && !Self.entered.contains(String(name))
    }

    private static let entered: Set = [
        "InsulinDelivery", "InhalerUsage", "NumberOfAlcoholicBeverages", "NumberOfTimesFallen",
    ]

    /// Keeps only letters and digits: `step_count` and `Step Count` are `stepcount`.
    static func key(_ name: String) -> String {
        String(name.lowercased().unicodeScalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) })
    }

    /// HealthKit's own names: the app's are mostly the same, spelled differently (`heart_rate`, `apple_exercise_time`,
    /// `dietary_water`).
    private static let own = names(of: .quantity, quantity).merging(names(of: .category, category)) { own, _ in own }

    /// HealthKit's identifiers of a kind, by the names after their prefix.
    static func names(of kind: HealthType.Kind, _ prefix: String) -> [String: String] {
        let identifiers = HealthType.allKnown.filter { $0.value.kind == kind }.keys
        return Dictionary(identifiers.map { (key(String($0.dropFirst(prefix.count))), $0) }) { own, _ in own }
    }

    private static let forms: [String: Form] = [
        HealthType.bloodPressureIdentifier: .bloodPressure, HealthType.sleepIdentifier: .sleep,
        "HKCategoryTypeIdentifierSexualActivity": .sexualActivity,
    ]

    /// The app's names, from all of its versions, that differ from HealthKit's.
    private static let others: [String: String] = {
        var names: [String: String] = [key("blood_pressure"): HealthType.bloodPressureIdentifier]
        for (prefix, table) in [(quantity, quantities), (category, categories)] {
            for entry in table.split(whereSeparator: \.isWhitespace) {
                let parts = entry.split(separator: "=")
                guard parts.count == 2 else { continue }
                for name in parts[1].split(separator: ",") { names[key(String(name))] = prefix + parts[0] }
            }
        }
        return names
    }()

    private static let quantity = "HKQuantityTypeIdentifier"
    static let category = "HKCategoryTypeIdentifier"

    private static let quantities = """
        ActiveEnergyBurned=active_energy,active_calories BasalEnergyBurned=basal_energy,resting_energy
        DistanceWalkingRunning=walking_running_distance,walk_run_distance,walking_and_running_distance
        DistanceCycling=cycling_distance DistanceSwimming=swimming_distance,swim_distance
        DistanceWheelchair=wheelchair_distance DistanceRowing=rowing_distance
        DistanceDownhillSnowSports=downhill_snow_sports,downhill_snow_sports_distance
        DistanceCrossCountrySkiing=cross_country_skiing_distance DistancePaddleSports=paddle_sports_distance
        DistanceSkatingSports=skating_sports_distance
        PushCount=wheelchair_push_count SwimmingStrokeCount=swim_stroke_count,swim_stroke
        AppleExerciseTime=exercise_time AppleStandTime=apple_standtime,stand_time AppleMoveTime=move_time
        BodyMass=weight_body_mass,weight,body_weight BodyMassIndex=bmi LeanBodyMass=lean_mass
        BodyFatPercentage=body_fat
        WalkingHeartRateAverage=walking_heart_rate HeartRateVariabilitySDNN=heart_rate_variability
        HeartRateRecoveryOneMinute=cardio_recovery,heart_rate_recovery VO2Max=vo2_maximum,cardio_fitness
        OxygenSaturation=blood_oxygen_saturation,blood_oxygen
        SixMinuteWalkTestDistance=six_minute_walking_test_distance,six_minute_walk
        StairAscentSpeed=stair_speed_up StairDescentSpeed=stair_speed_down
        WalkingAsymmetryPercentage=walking_asymmetry WalkingDoubleSupportPercentage=walking_double_support
        RunningGroundContactTime=ground_contact_time RunningVerticalOscillation=vertical_oscillation
        RunningStrideLength=stride_length
        ForcedExpiratoryVolume1=forced_expiratory_volume,forced_expiratory_volume_1_second
        AppleSleepingBreathingDisturbances=breathing_disturbances,sleeping_breathing_disturbances
        AppleSleepingWristTemperature=wrist_temperature,sleeping_wrist_temperature
        WaterTemperature=under_water_temperature,underwater_temperature UnderwaterDepth=under_water_depth
        EnvironmentalAudioExposure=environmental_audio HeadphoneAudioExposure=headphone_audio
        NumberOfTimesFallen=number_of_time_fallen NumberOfAlcoholicBeverages=alcohol_consumption,alcoholic_beverages
        DietaryEnergyConsumed=dietary_energy DietaryWater=water DietarySugar=sugar DietaryFiber=fiber,fibre
        DietaryCarbohydrates=carbohydrates,carbs DietaryProtein=protein DietaryCholesterol=cholesterol
        DietaryFatTotal=total_fat,dietary_total_fat,fat DietaryFatSaturated=saturated_fat,dietary_saturated_fat
        DietaryFatMonounsaturated=monounsaturated_fat,monosaturated_fat,dietary_monounsaturated_fat
        DietaryFatPolyunsaturated=polyunsaturated_fat,dietary_polyunsaturated_fat
        DietarySodium=sodium DietaryPotassium=potassium DietaryCalcium=calcium DietaryIron=iron
        DietaryMagnesium=magnesium DietaryPhosphorus=phosphorus DietaryZinc=zinc DietaryCopper=copper
        DietaryManganese=manganese DietaryChloride=chloride DietarySelenium=selenium DietaryIodine=iodine
        DietaryChromium=chromium DietaryMolybdenum=molybdenum DietaryFolate=folate DietaryBiotin=biotin
        DietaryNiacin=niacin DietaryThiamin=thiamin,thiamine,dietary_thiamine DietaryRiboflavin=riboflavin
        DietaryPantothenicAcid=pantothenic_acid DietaryCaffeine=caffeine DietaryVitaminA=vitamin_a
        DietaryVitaminB6=vitamin_b6 DietaryVitaminB12=vitamin_b12 DietaryVitaminC=vitamin_c
        DietaryVitaminD=vitamin_d DietaryVitaminE=vitamin_e DietaryVitaminK=vitamin_k
        """

    private static let categories = """
        MindfulSession=mindful_minutes,mindfulness HandwashingEvent=handwashing,hand_washing
        ToothbrushingEvent=toothbrushing,tooth_brushing AppleStandHour=stand_hour,apple_stand_hours
        HighHeartRateEvent=high_heart_rate_notifications LowHeartRateEvent=low_heart_rate_notifications
        IrregularHeartRhythmEvent=irregular_heart_rate_notifications,irregular_heart_rhythm_notifications
        """
}
