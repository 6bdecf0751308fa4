import HealthModel
import HealthPush
import Testing

@Suite struct LifeDashboardTests {
    private static let id = "5b7a0c2e-8f3d-4b1a-9c6e-2d4f8a1b3c5d"

    private static func changes(_ members: String, source: String = "healthkit_ios") throws -> PushedChanges {
        try WayIn.lifeDashboard.changes(
            in: Array(#"{"sequence":42,\#(members),"source":"\#(source)"}"#.utf8), type: "application/json",
            now: testNow)
    }

    private static func row(_ list: String, _ record: String) throws -> PushedRow {
        let common = #""uuid":"\#(id)","source":"Watch""#
        let changes = try changes(#""\#(list)":[{\#(common),\#(record)}]"#)
        #expect(changes.items == 1 && changes.reasons == [], "\(list)")
        #expect(changes.rows.count == 1, "\(list)")
        let row = try #require(changes.rows.first)
        #expect(row.uuid == id && row.source == "Watch", "\(list)")
        return row
    }

    private static let time = #""time":"2026-02-05T08:00:00Z""#
    private static let span = #""start_time":"2026-02-05T08:00:00Z","end_time":"2026-02-05T09:00:00Z""#

    @Test(arguments: [
        ("steps", #""count":1234"#, "StepCount", "count", 1234),
        ("distance", #""meters":1523.5"#, "Distance", "m", 1523.5),
        ("active_calories", #""calories":12.35"#, "ActiveEnergyBurned", "kcal", 12.35),
        ("total_calories", #""calories":61.02"#, "TotalEnergyBurned", "kcal", 61.02),
        ("hydration", #""liters":0.25"#, "DietaryWater", "mL", 250),
        ("heart_rate", #""bpm":72"#, "HeartRate", "count/min", 72),
        ("resting_heart_rate", #""bpm":58"#, "RestingHeartRate", "count/min", 58),
        ("heart_rate_variability", #""heart_rate_variability_millis":42.5"#, "HeartRateVariabilitySDNN", "ms", 42.5),
        ("respiratory_rate", #""rate":16.5"#, "RespiratoryRate", "count/min", 16.5),
        ("oxygen_saturation", #""percentage":97.5"#, "OxygenSaturation", "%", 0.975),
        ("body_fat", #""percentage":18.5"#, "BodyFatPercentage", "%", 0.185),
        ("vo2_max", #""vo2_ml_per_min_per_kg":42.5"#, "VO2Max", "mL/min·kg", 42.5),
        ("weight", #""kilograms":75.5"#, "BodyMass", "kg", 75.5), ("height", #""meters":1.82"#, "Height", "m", 1.82),
        ("lean_body_mass", #""kilograms":61.5"#, "LeanBodyMass", "kg", 61.5),
        ("body_temperature", #""celsius":36.6"#, "BodyTemperature", "degC", 36.6),
        ("basal_body_temperature", #""celsius":36.4"#, "BasalBodyTemperature", "degC", 36.4),
        ("bone_mass", #""kilograms":3.2"#, "BoneMass", "kg", 3.2),
    ])
    func aNumberIsASampleInHealthKitsUnit(list: String, number: String, type: String, unit: String, value: Double)
        throws
    {
        let isSpan = ["steps", "distance", "active_calories", "total_calories", "hydration"].contains(list)
        let row = try Self.row(list, (isSpan ? Self.span : Self.time) + "," + number)
        #expect(row.type == "HKQuantityTypeIdentifier" + type && row.unit == unit && row.value == value)
        #expect(row.start == "2026-02-05T08:00:00Z")
        #expect(row.end == (isSpan ? "2026-02-05T09:00:00Z" : row.start))
        #expect(row.flags == RecordFlags.coarse.rawValue)
    }

    @Test func glucoseIsWeighed() throws {
        let row = try Self.row("blood_glucose", Self.time + #","mmol_per_liter":5.5"#)
        #expect(row.unit == "mg/dL" && abs((row.value ?? 0) - 99.0857) < 0.001)
    }

    @Test(arguments: [
        ("mindfulness", #""duration_seconds":900"#, "MindfulSession", 0.0),
        ("menstruation_flow", #""flow":"heavy""#, "MenstrualFlow", 4),
        ("intermenstrual_bleeding", #""x":1"#, "IntermenstrualBleeding", 0),
        ("ovulation_test", #""result":"high""#, "OvulationTestResult", 4),
        ("cervical_mucus", #""appearance":"egg_white","sensation":"unknown""#, "CervicalMucusQuality", 5),
        ("sexual_activity", #""protection_used":"unprotected""#, "SexualActivity", 0),
    ])
    func anEventIsACategory(list: String, members: String, type: String, value: Double) throws {
        let row = try Self.row(list, Self.time + "," + members)
        #expect(row.type == "HKCategoryTypeIdentifier" + type && row.value == value)
        #expect(row.metadata == (list == "sexual_activity" ? #"{"HKSexualActivityProtectionUsed":0}"# : ""))
    }

    @Test(arguments: [
        ("running", "Running"), ("downhill_skiing", "DownhillSkiing"), ("hiit", "HighIntensityIntervalTraining"),
        ("tai_chi", "TaiChi"), ("swim_bike_run", "SwimBikeRun"),
        ("traditional_strength_training", "TraditionalStrengthTraining"),
        ("other", "Other"), ("quidditch", "Other"), ("56", "Running"), ("8", "Cycling"), ("999", "Other"),
    ])
    func aWorkoutHasItsActivityAndNoDuration(name: String, activity: String) throws {
        let row = try Self.row("exercise", Self.span + #","type":"\#(name)","duration_seconds":3600"#)
        #expect(row.type == HealthType.workoutIdentifier && row.value == nil)
        #expect(row.body == ["activity": .string("HKWorkoutActivityType" + activity)])
    }

    /// The store knows by their ids what is in both, and that the rest is resting energy.
    @Test func theTotalComesAfterTheActiveEnergy() throws {
        let active = #"{\#(Self.span),"calories":10,"uuid":"\#(Self.id)"}"#
        let other = #"{\#(Self.span),"calories":60,"uuid":"00000000-0000-4000-8000-000000000001"}"#
        let changes = try Self.changes(#""total_calories":[\#(active),\#(other)],"active_calories":[\#(active)]"#)
        #expect(
            changes.rows.map(\.type) == [HealthType.activeEnergy]
                + [String](repeating: HealthType.totalEnergy, count: 2))
        #expect(changes.items == 3 && changes.rows.map(\.value) == [10, 10, 60])
    }

    @Test func aNightHasItsStages() throws {
        let stages = ["in_bed", "sleeping", "awake", "light", "deep", "rem"].enumerated().map { number, stage in
            #"{\#(Self.span),"stage":"\#(stage)","uuid":"00000000-0000-4000-8000-00000000000\#(number)","source":"Watch"}"#
        }
        let odd = #"{\#(Self.span),"stage":"dreaming"}"#
        let night =
            #"{"session_end_time":"2026-02-05T09:00:00Z","duration_seconds":1,"uuid":"\#(Self.id)""#
            + #","stages":[\#((stages + [odd]).joined(separator: ","))]}"#
        let changes = try Self.changes(#""sleep":[\#(night)]"#)
        #expect(changes.rows.map(\.value) == [0, 1, 2, 3, 4, 5] && changes.items == 1)
        #expect(changes.rows.allSatisfy { $0.type == HealthType.sleepIdentifier && $0.flags == 0 && $0.line == 1 })
        #expect(changes.reasons == ["stage isn't one of those known"])
        let bare = try Self.changes(
            #""sleep":[{"session_end_time":"2026-02-05T09:00:00Z","duration_seconds":3600,"source":"com.app"}]"#,
            source: "health_connect")
        #expect(bare.rows.map(\.start) == ["2026-02-05T08:00:00Z"] && bare.rows.first?.value == 1)
    }

    @Test func aBloodPressureAndAFoodAreCorrelations() throws {
        let pressure = try Self.changes(
            #""blood_pressure":[{\#(Self.time),"systolic":121,"diastolic":79.5,"uuid":"\#(Self.id)","source":"Cuff"}]"#)
        #expect(
            pressure.rows.map(\.type) == [
                HealthType.bloodPressure, "HKQuantityTypeIdentifierBloodPressureSystolic",
                "HKQuantityTypeIdentifierBloodPressureDiastolic",
            ])
        #expect(pressure.rows.map(\.uuid) == ["", Self.id, ""] && pressure.rows[0].body["parts"].array?.count == 2)
        let food = try Self.changes(
            #""nutrition":[{\#(Self.span),"name":"Oats","meal_type":"breakfast","fat_grams":7,"calories":450,"#
                + #""sodium_mg":180,"vitamin_d_mcg":2.5,"dietary_fibre_g":6.2,"uuid":"\#(Self.id)"}]"#)
        let values = Dictionary(uniqueKeysWithValues: food.rows.dropFirst().map { ($0.type.dropFirst(31), $0.value) })
        #expect(
            values == ["EnergyConsumed": 450, "FatTotal": 7, "Sodium": 180, "VitaminD": 2.5, "Fiber": 6.2], "\(values)")
        #expect(food.rows[0].metadata == #"{"HKFoodType":"Oats"}"# && food.rows[1].uuid == Self.id)
        #expect(food.rows.count(where: { !$0.uuid.isEmpty }) == 1)
        // One nutrient is a sample.
        let lone = try Self.changes(#""nutrition":[{\#(Self.span),"protein_grams":25,"uuid":"\#(Self.id)"}]"#)
        #expect(lone.rows.map(\.type) == ["HKQuantityTypeIdentifierDietaryProtein"])
    }

    @Test func aBucketIsAStatistic() throws {
        let ends = #""bucket_start":"2026-02-05T08:00:00Z","bucket_end":"2026-02-05T09:00:00Z""#
        let changes = try Self.changes(
            #""steps":[{\#(ends),"sample_count":12,"total":1840,"sources":["Watch","iPhone"]}],"#
                + #""heart_rate":[{\#(ends),"sample_count":58,"avg":72.4,"min":66,"max":81,"sources":["Watch"]}],"#
                + #""oxygen_saturation":[{\#(ends),"sample_count":2,"avg":97,"min":96,"max":98}]"#)
        #expect(changes.reasons == [] && changes.statistics.count == 3)
        let found = Dictionary(uniqueKeysWithValues: changes.rows.map { ($0.type.dropFirst(24), $0) })
        #expect(
            found["StepCount.statistics"]?.value == 1840 && found["StepCount.statistics"]?.source == "Watch, iPhone")
        #expect(found["HeartRate.statistics"]?.body == ["minimum": 66, "maximum": 81])
        #expect(found["OxygenSaturation.statistics"]?.value == 0.97)
        // A late record is sent in a bucket without the others: the fuller one counts.
        let late = try Self.changes(#""steps":[{\#(ends),"sample_count":1,"total":20}]"#)
        #expect(try #require(late.rows.first).created < (found["StepCount.statistics"]?.created ?? 0))
    }

    @Test func deletionsAreByUUIDAndSayWhatStandsForAWhole() throws {
        let other = "00000000-0000-4000-8000-000000000001"
        let changes = try Self.changes(
            #""deleted_records":[{"type":"steps","uuid":"\#(Self.id)"},{"type":"nutrition","uuid":"\#(other)"},"#
                + #"{"type":"steps","uuid":"no"}],"deletions_unavailable":["sleep"]"#)
        #expect(changes.deleted.map(\.description) == [Self.id, other])
        #expect(changes.deletedWholes.count == 1 && changes.deletedItems == [1, 2])
        #expect(changes.items == 3 && changes.reasons == ["uuid isn't a UUID"])
    }

    @Test(arguments: [
        (#""steps":[{"count":"many",\#(span)}]"#, "count isn't a number"),
        (#""steps":[{"count":1,"start_time":"yesterday"}]"#, "its time isn't a date"),
        (
            #""steps":[{"count":1,"start_time":"2026-02-05T08:00:00Z","end_time":"2026-02-05T07:00:00Z"}]"#,
            "it ends before it starts"
        ),
        (#""steps":[7]"#, "a record is a JSON object"),
        (#""menstruation_flow":[{"flow":"some",\#(time)}]"#, "flow isn't one of those known"),
        (#""nutrition":[{"caffeine_mg":80,\#(span)}]"#, "a food has energy, protein, carbohydrates or fat"),
        (#""hologram":[{"x":1}]"#, "this kind of record isn't known"),
        (#""sleep":[{"stages":[]}]"#, "a night has stages, or session_end_time and duration_seconds"),
        (#""blood_pressure":[{"systolic":120,\#(time)}]"#, "diastolic isn't a number"),
    ])
    func oneBadRecordDoesNotRefuseTheRest(list: String, reason: String) throws {
        let good = #""weight":[{"kilograms":75.5,\#(Self.time)}]"#
        let changes = try Self.changes(list + "," + good)
        #expect(changes.reasons == [reason] && changes.items == 2)
        #expect(changes.rows.map(\.value) == [75.5])
        // What was quarantined is read again in the same way.
        let raw = try #require(changes.quarantined.first).raw
        #expect(WayIn.lifeDashboard.records(in: raw) == nil)
    }

    @Test func aRepairedItemIsReadAgain() throws {
        let records = WayIn.lifeDashboard.records(in: #""weight":[{"kilograms":75.5,\#(Self.time)}]"#)
        #expect(records?.types == ["HKQuantityTypeIdentifierBodyMass"])
    }

    @Test(arguments: [
        (#"{"steps":[]}"#, "source"), (#"{"source":"screen_time","screen_time":[]}"#, "source"), ("[]", "invalid"),
        (#"{"data":{"metrics":[]}}"#, "/v1/health-auto-export"), (#"{"samples":[]}"#, "/v1/samples"),
    ])
    func anotherBodyIsRefused(body: String, reason: String) throws {
        let error = try #require(throws: PushError.self) {
            try WayIn.lifeDashboard.changes(in: Array(body.utf8), type: "application/json", now: testNow)
        }
        #expect(error.description.contains(reason), "\(error)")
    }

    @Test func whatIsNotARecordIsLeftOut() throws {
        let changes = try Self.changes(
            #""daily_totals":[{"date":"2026-02-05","steps":8421}],"_diagnostics":{"a":1},"_resolutions":{},"#
                + #""menstruation_period":[{\#(Self.span)}],"backfill":true,"window_complete":false"#)
        #expect(changes.items == 0 && changes.records.count == 0 && changes.quarantined.isEmpty)
    }

    /// Health Connect's variability is another number than HealthKit's.
    @Test func androidHasAVariabilityOfItsOwn() throws {
        let changes = try Self.changes(
            #""heart_rate_variability":[{\#(Self.time),"heart_rate_variability_millis":30,"uuid":"\#(Self.id)#1700"}]"#,
            source: "health_connect")
        #expect(changes.rows.map(\.type) == ["HKQuantityTypeIdentifierHeartRateVariabilityRMSSD"])
        #expect(changes.rows.map(\.uuid) == [""])
    }
}
