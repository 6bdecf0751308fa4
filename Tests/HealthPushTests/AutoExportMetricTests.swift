import HealthModel
import HealthPush
import Testing

struct AutoExportMetricTests {
    /// The app's names, from its list of supported data and from its requests. Each has a unit, a value, and the
    /// resulting type and value.
    private static let metrics: [(String, String, String, String, Double)] = [
        ("step_count", "count", "8500", "StepCount", 8500), ("active_energy", "kJ", "418.4", "ActiveEnergyBurned", 100),
        ("active_energy", "kcal", "100", "ActiveEnergyBurned", 100),
        ("basal_energy_burned", "Cal", "70", "BasalEnergyBurned", 70),
        ("apple_exercise_time", "min", "30", "AppleExerciseTime", 30),
        ("apple_move_time", "hr", "0.5", "AppleMoveTime", 30), ("apple_stand_time", "min", "5", "AppleStandTime", 5),
        ("walking_running_distance", "km", "1.25", "DistanceWalkingRunning", 1250),
        ("walking_running_distance", "mi", "1", "DistanceWalkingRunning", 1609.344),
        ("cycling_distance", "km", "2", "DistanceCycling", 2000),
        ("swimming_distance", "yd", "100", "DistanceSwimming", 91.44),
        ("wheelchair_distance", "m", "10", "DistanceWheelchair", 10),
        ("downhill_snow_sports", "km", "3", "DistanceDownhillSnowSports", 3000),
        ("distance_downhill_snow_sports", "km", "3", "DistanceDownhillSnowSports", 3000),
        ("flights_climbed", "count", "4", "FlightsClimbed", 4), ("wheelchair_push_count", "count", "4", "PushCount", 4),
        ("push_count", "count", "4", "PushCount", 4), ("swim_stroke_count", "count", "9", "SwimmingStrokeCount", 9),
        ("swimming_stroke_count", "count", "9", "SwimmingStrokeCount", 9),
        ("vo2max", "ml/(kg·min)", "41.5", "VO2Max", 41.5), ("vo2_max", "mL/min·kg", "41.5", "VO2Max", 41.5),
        ("physical_effort", "kcal/hr·kg", "2.5", "PhysicalEffort", 2.5),
        ("physical_effort", "MET", "2", "PhysicalEffort", 2),
        ("cycling_cadence", "count/min", "80", "CyclingCadence", 80),
        ("cycling_power", "W", "180", "CyclingPower", 180),
        ("cycling_functional_threshold_power", "W", "200", "CyclingFunctionalThresholdPower", 200),
        ("cycling_speed", "km/hr", "36", "CyclingSpeed", 10), ("running_speed", "kmph", "18", "RunningSpeed", 5),
        ("running_power", "W", "250", "RunningPower", 250),
        ("running_ground_contact_time", "ms", "240", "RunningGroundContactTime", 240),
        ("running_stride_length", "cm", "110", "RunningStrideLength", 1.1),
        ("running_vertical_oscillation", "cm", "8", "RunningVerticalOscillation", 0.08),
        ("height", "cm", "180", "Height", 1.8), ("height", "in", "70", "Height", 1.778),
        ("weight_body_mass", "lb", "150", "BodyMass", 68.0388555), ("weight_body_mass", "kg", "70.2", "BodyMass", 70.2),
        ("body_mass", "kg", "70.2", "BodyMass", 70.2), ("waist_circumference", "cm", "80", "WaistCircumference", 0.8),
        ("body_fat_percentage", "%", "21.5", "BodyFatPercentage", 0.215),
        ("body_mass_index", "count", "22.5", "BodyMassIndex", 22.5), ("lean_body_mass", "kg", "55", "LeanBodyMass", 55),
        ("resting_heart_rate", "bpm", "52", "RestingHeartRate", 52),
        ("resting_heart_rate", "count/min", "52", "RestingHeartRate", 52),
        ("heart_rate_variability", "ms", "45.5", "HeartRateVariabilitySDNN", 45.5),
        ("cardio_recovery", "count/min", "30", "HeartRateRecoveryOneMinute", 30),
        ("walking_heart_rate", "bpm", "90", "WalkingHeartRateAverage", 90),
        ("walking_heart_rate_average", "bpm", "90", "WalkingHeartRateAverage", 90),
        ("atrial_fibrillation_burden", "%", "2", "AtrialFibrillationBurden", 0.02),
        ("walking_speed", "mph", "2.5", "WalkingSpeed", 1.1176),
        ("walking_speed", "mi/hr", "2.5", "WalkingSpeed", 1.1176),
        ("walking_step_length", "in", "25", "WalkingStepLength", 0.635),
        ("walking_asymmetry_percentage", "%", "3", "WalkingAsymmetryPercentage", 0.03),
        ("walking_double_support_percentage", "%", "28.1", "WalkingDoubleSupportPercentage", 0.281),
        ("six_minute_walking_test_distance", "m", "500", "SixMinuteWalkTestDistance", 500),
        ("six-minute_walking_test_distance", "m", "500", "SixMinuteWalkTestDistance", 500),
        ("stair_speed_up", "m/s", "0.4", "StairAscentSpeed", 0.4),
        ("stair_speed:_up", "m/s", "0.4", "StairAscentSpeed", 0.4),
        ("stair_speed_down", "ft/s", "1", "StairDescentSpeed", 0.3048),
        ("respiratory_rate", "count/min", "14", "RespiratoryRate", 14),
        ("forced_expiratory_volume", "L", "3.5", "ForcedExpiratoryVolume1", 3.5),
        ("forced_expiratory_volume_1", "L", "3.5", "ForcedExpiratoryVolume1", 3.5),
        ("forced_vital_capacity", "L", "4", "ForcedVitalCapacity", 4),
        ("blood_oxygen_saturation", "%", "97", "OxygenSaturation", 0.97),
        ("peripheral_perfusion_index", "%", "5", "PeripheralPerfusionIndex", 0.05),
        ("peak_expiratory_flow_rate", "L/min", "500", "PeakExpiratoryFlowRate", 500),
        ("inhaler_usage", "count", "2", "InhalerUsage", 2), ("body_temperature", "degF", "98.6", "BodyTemperature", 37),
        ("body_temperature", "°C", "36.6", "BodyTemperature", 36.6),
        ("basal_body_temperature", "degC", "36.4", "BasalBodyTemperature", 36.4),
        ("under_water_depth", "ft", "10", "UnderwaterDepth", 3.048),
        ("under_water_temperature", "°F", "68", "WaterTemperature", 20), ("uv_exposure", "count", "3", "UVExposure", 3),
        ("time_in_daylight", "min", "42", "TimeInDaylight", 42),
        ("environmental_audio", "dBASPL", "60", "EnvironmentalAudioExposure", 60),
        ("environmental_audio_exposure", "dB", "60", "EnvironmentalAudioExposure", 60),
        ("headphone_audio", "dBASPL", "70", "HeadphoneAudioExposure", 70),
        ("headphone_audio_exposure", "dBASPL", "70", "HeadphoneAudioExposure", 70),
        ("electrodermal_activity", "mcS", "2", "ElectrodermalActivity", 2),
        ("apple_sleeping_wrist_temperature", "degC", "35.5", "AppleSleepingWristTemperature", 35.5),
        ("breathing_disturbances", "count", "1.5", "AppleSleepingBreathingDisturbances", 1.5),
        ("insulin_delivery", "IU", "4", "InsulinDelivery", 4), ("blood_glucose", "mg/dL", "95", "BloodGlucose", 95),
        ("blood_alcohol_content", "%", "0.05", "BloodAlcoholContent", 0.0005),
        ("number_of_time_fallen", "count", "1", "NumberOfTimesFallen", 1),
        ("number_of_times_fallen", "count", "1", "NumberOfTimesFallen", 1),
        ("number_of_alcoholic_beverages", "count", "2", "NumberOfAlcoholicBeverages", 2),
        ("alcohol_consumption", "count", "2", "NumberOfAlcoholicBeverages", 2),
        ("dietary_energy", "kJ", "836.8", "DietaryEnergyConsumed", 200),
        ("dietary_water", "L", "0.5", "DietaryWater", 500),
        ("dietary_water", "fl_oz_us", "8", "DietaryWater", 236.5882365),
        ("dietary_sugar", "g", "12", "DietarySugar", 12),
        ("carbohydrates", "g", "50", "DietaryCarbohydrates", 50), ("cholesterol", "mg", "30", "DietaryCholesterol", 30),
        ("dietary_cholesterol", "mg", "30", "DietaryCholesterol", 30), ("protein", "g", "20", "DietaryProtein", 20),
        ("total_fat", "oz", "1", "DietaryFatTotal", 28.349523125),
        ("saturated_fat", "g", "3", "DietaryFatSaturated", 3),
        ("monosaturated_fat", "g", "3", "DietaryFatMonounsaturated", 3),
        ("monounsaturated_fat", "g", "3", "DietaryFatMonounsaturated", 3),
        ("polyunsaturated_fat", "g", "3", "DietaryFatPolyunsaturated", 3), ("fiber", "g", "8", "DietaryFiber", 8),
        ("sodium", "mg", "400", "DietarySodium", 400), ("potassium", "g", "1", "DietaryPotassium", 1000),
        ("calcium", "mg", "300", "DietaryCalcium", 300), ("iron", "mg", "5", "DietaryIron", 5),
        ("magnesium", "mg", "100", "DietaryMagnesium", 100), ("phosphorus", "mg", "90", "DietaryPhosphorus", 90),
        ("zinc", "mg", "2", "DietaryZinc", 2), ("copper", "mg", "1", "DietaryCopper", 1),
        ("manganese", "mg", "1", "DietaryManganese", 1), ("chloride", "mg", "7", "DietaryChloride", 7),
        ("chromium", "mcg", "9", "DietaryChromium", 9), ("iodine", "µg", "9", "DietaryIodine", 9),
        ("selenium", "mcg", "9", "DietarySelenium", 9), ("molybdenum", "mcg", "9", "DietaryMolybdenum", 9),
        ("folate", "mcg", "9", "DietaryFolate", 9), ("biotin", "mcg", "9", "DietaryBiotin", 9),
        ("dietary_biotin", "mcg", "9", "DietaryBiotin", 9), ("caffeine", "mg", "80", "DietaryCaffeine", 80),
        ("dietary_caffeine", "mg", "80", "DietaryCaffeine", 80), ("niacin", "mg", "9", "DietaryNiacin", 9),
        ("thiamin", "mg", "1", "DietaryThiamin", 1), ("riboflavin", "mg", "1", "DietaryRiboflavin", 1),
        ("pantothenic_acid", "mg", "1", "DietaryPantothenicAcid", 1), ("vitamin_a", "mcg", "9", "DietaryVitaminA", 9),
        ("vitamin_b6", "mg", "1", "DietaryVitaminB6", 1), ("vitamin_b12", "mcg", "1", "DietaryVitaminB12", 1),
        ("vitamin_c", "mg", "1", "DietaryVitaminC", 1), ("vitamin_d", "mcg", "1", "DietaryVitaminD", 1),
        ("vitamin_e", "mg", "1", "DietaryVitaminE", 1), ("vitamin_k", "mcg", "1", "DietaryVitaminK", 1),
    ]

    @Test(arguments: metrics)
    func eachMetricBecomesItsTypeInItsUnit(
        name: String, units: String, quantity: String, type: String, value: Double
    ) throws {
        let changes = try pushed(
            metric: name, units,
            #"{"qty":\#(quantity),"startDate":"2026-09-01 10:20:30 +0200","endDate":"2026-09-01 10:20:30 +0200","source":"Watch"}"#,
            aggregation: "none")
        let row = try #require(changes.rows.first)
        #expect(changes.items == 1 && changes.rows.count == 1 && changes.quarantined.isEmpty)
        #expect(row.type == "HKQuantityTypeIdentifier" + type)
        #expect(row.unit == HealthType.named(row.type).unit && !row.unit.isEmpty)
        #expect(abs((row.value ?? .nan) - value) <= abs(value) * 1e-12)
        #expect(row.start == "2026-09-01T08:20:30Z" && row.end == row.start && row.source == "Watch")
    }

    @Test func bloodGlucoseIsConvertedByItsMolarMass() throws {
        let changes = try pushed(
            metric: "blood_glucose", "mmol/L",
            #"{"qty":5.5,"mealTime":"Before Meal","date":"2026-09-01 10:20:30 +0200"},"#
                + #"{"qty":6,"mealTime":"Unspecified","date":"2026-09-01 11:20:30 +0200"}"#, aggregation: "none")
        #expect(abs((changes.rows[0].value ?? 0) - 99.085734) < 1e-5)
        #expect(changes.rows.map(\.metadata) == [#"{"HKBloodGlucoseMealTime":"1"}"#, ""])
        #expect(changes.rows.allSatisfy { $0.payload.isEmpty && $0.source == "Health Auto Export" })
    }

    @Test func wordsBecomeHealthKitsMetadataAndOthersStay() throws {
        let date = #""date":"2026-09-01 10:20:30 +0200""#
        let insulin = try pushed(
            metric: "insulin_delivery", "IU",
            #"{"qty":4,"reason":"Bolus",\#(date)},{"qty":4,"reason":"Wer weiß",\#(date)}"#,
            aggregation: "off")
        #expect(insulin.rows.map(\.metadata) == [#"{"HKInsulinDeliveryReason":"2"}"#, ""])
        #expect(insulin.rows[1].body == ["reason": "Wer weiß"])
        let beats = try pushed(
            metric: "heart_rate", "bpm", #"{"Min":60,"Avg":60,"Max":60,"context":"Sedentary",\#(date)}"#)
        #expect(beats.rows[0].metadata == #"{"HKMetadataKeyHeartRateMotionContext":"1"}"#)
    }

    @Test func metadataSourceAndIdentityAreKept() throws {
        let changes = try pushed(
            metric: "body_temperature", "degC",
            #"{"qty":36.6,"id":"6F2C3C4B-9A5D-4E8F-8B7A-0123456789AB","userEntered":true,"source":"Anna\u2019s\u00a0Watch|iPhone","#
                + #""metadata":{"HKTimeZone":"Europe/Berlin"},"note":[1,{"b":2,"a":1}],"startDate":"2026-09-01T10:20:30.25+02:00","#
                + #""endDate":"2026-09-01T08:21:30Z"}"#)
        let row = try #require(changes.rows.first)
        #expect(row.uuid == "6f2c3c4b-9a5d-4e8f-8b7a-0123456789ab" && row.source == "Anna’s\u{A0}Watch|iPhone")
        #expect(row.metadata == #"{"HKTimeZone":"Europe/Berlin","HKWasUserEntered":"1"}"#)
        #expect(RecordFlags(rawValue: row.flags) == .userEntered)
        #expect(row.payload == #"{"note":[1,{"a":1,"b":2}]}"#)
        #expect(row.start == "2026-09-01T08:20:30.25Z" && row.end == "2026-09-01T08:21:30Z")
        let unnamed = try pushed(
            metric: "body_temperature", "degC", #"{"qty":36.6,"id":"test-1","date":"2026-09-01 10:20:30 +0200"}"#)
        #expect(unnamed.records.healthKitUUID.isEmpty && unnamed.rows[0].body == ["id": "test-1"])
    }

    @Test func bloodPressureIsACorrelationOfTwoRecords() throws {
        let changes = try pushed(
            metric: "blood_pressure", "mmHg",
            #"{"date":"2026-09-01 10:20:30 +0200","diastolic":70,"systolic":115,"source":"Cuff"},"#
                + #"{"date":"2026-09-01 11:20:30 +0200","systolic":115}"#)
        let rows = changes.rows
        #expect(changes.items == 2 && rows.map(\.value) == [nil, 115, 70] && rows.map(\.line) == [1, 1, 1])
        #expect(rows.map(\.type) == [HealthType.bloodPressureIdentifier] + HealthType.bloodPressureParts)
        #expect(rows[0].body["parts"].array?.map { $0["value"].double } == [115, 70])
        #expect(rows[0].body["parts"].array?.map { $0["type"].string } == HealthType.bloodPressureParts)
        let flags = changes.records.flags.map { $0.contains(.correlationChild) }
        #expect(flags == [false, true, true] && rows.allSatisfy { $0.source == "Cuff" })
        #expect(changes.quarantined.map(\.line) == [2])
    }

    @Test func aNumberMayStandInAString() throws {
        let changes = try pushed(
            metric: "step_count", "count", #"{"qty":"12","date":"2026-09-01 10:20:30 +0200"}"#, aggregation: "none")
        #expect(changes.rows.map(\.value) == [12])
    }

    /// As an export's unknown types are, with the unit that is printed.
    @Test(arguments: [
        ("new_metric", "new/unit", "HKQuantityTypeIdentifierNewMetric", "new/unit"),
        ("Sleeping Heart Rate", "bpm", "HKQuantityTypeIdentifierSleepingHeartRate", "count/min"),
        ("HKQuantityTypeIdentifierMoonSteps", "", "HKQuantityTypeIdentifierMoonSteps", ""),
        ("血糖値", "mg/dL", "HKQuantityTypeIdentifier血糖値", "mg/dL"),
    ])
    func anUnknownMetricIsAnUnknownType(name: String, units: String, type: String, unit: String) throws {
        let changes = try pushed(
            metric: name, units,
            #"{"qty":5.5,"date":"2026-09-01 10:20:30 +0200","source":"Ring"},{"note":"x","date":"2026-09-01 10:20:31 +0200"}"#
        )
        #expect(changes.rows.map(\.type) == [type] && changes.rows.map(\.value) == [5.5])
        #expect(changes.rows[0].unit == unit && changes.rows[0].source == "Ring")
        #expect(changes.reasons == ["there is no quantity, or it isn't a number"])
        let days = try pushed(
            metric: name, units, #"{"Avg":5,"Min":4,"Max":6,"date":"2026-09-01 00:00:00 +0200"}"#, aggregation: "Days")
        #expect(days.rows.map(\.type) == [type + ".statistics"] && days.rows[0].unit == unit)
        #expect(days.rows[0].payload == #"{"maximum":6,"minimum":4}"#)
    }

    @Test func anUnknownMetricsWordIsKeptAsAnUnknownCategorys() throws {
        let changes = try pushed(
            metric: "new_event", "",
            #"{"value":"Very","startDate":"2026-09-01 10:20:30 +0200","endDate":"2026-09-01 10:21:30 +0200"}"#)
        #expect(changes.rows.map(\.type) == ["HKCategoryTypeIdentifierNewEvent"] && changes.rows[0].value == nil)
        #expect(changes.rows[0].body == ["value": "Very"] && changes.rows[0].end == "2026-09-01T08:21:30Z")
    }

    @Test func aMetricMayHaveHealthKitsIdentifier() throws {
        let changes = try pushed(
            metric: "HKQuantityTypeIdentifierBodyMass", "lb", #"{"qty":150,"date":"2026-09-01 10:20:30 +0200"}"#)
        #expect(changes.rows.map(\.type) == ["HKQuantityTypeIdentifierBodyMass"])
        #expect(abs((changes.rows[0].value ?? 0) - 68.0388555) < 1e-9)
    }
}
