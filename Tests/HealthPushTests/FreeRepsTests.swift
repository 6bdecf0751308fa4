import HealthModel
import HealthPush
import Testing

/// What the app FreeReps posts: Health Auto Export's form, with some differences.
struct FreeRepsTests {
    private static let uuid = "0B1C2D3E-4F50-6172-8394-A5B6C7D8E9F0"

    private static func changes(_ data: String) throws -> PushedChanges {
        try WayIn.freeReps.changes(in: Array(#"{"data":{\#(data)}}"#.utf8), type: "application/json", now: testNow)
    }

    private static func metric(_ name: String, _ units: String, _ entries: String) -> String {
        #"{"name":"\#(name)","units":"\#(units)","data":[\#(entries)]}"#
    }

    /// The rows of one metric.
    private static func rows(_ name: String, _ units: String, _ entries: String) throws -> [PushedRow] {
        let changes = try changes("\"metrics\":[\(metric(name, units, entries))]")
        #expect(changes.quarantined.isEmpty, "\(changes.reasons)")
        return changes.rows
    }

    /// The only row of a part with one item.
    private static func one(_ part: String, _ members: String) throws -> PushedRow {
        let changes = try changes(#""\#(part)":[{\#(members)}]"#)
        #expect(changes.items == 1 && changes.quarantined.isEmpty, "\(changes.reasons)")
        return try #require(changes.rows.first)
    }

    @Test func anEntryWithAUUIDIsASample() throws {
        let entry = #"{"date":"2026-03-26 10:00:00 +0100","qty":61,"source_uuid":"\#(Self.uuid)"}"#
        let row = try #require(try Self.rows("heart_rate", "bpm", entry).first)
        #expect(row.type == "HKQuantityTypeIdentifierHeartRate" && row.unit == "count/min" && row.value == 61)
        #expect(row.uuid == Self.uuid.lowercased() && row.source.isEmpty && row.payload.isEmpty)
        #expect(row.start == "2026-03-26T09:00:00Z" && row.end == row.start)
    }

    /// Sums have no UUID. The first one of a metric may lack samples, so it yields to any that was sent before.
    @Test func sumsAreOfHours() throws {
        let entries = #"{"date":"2026-03-26 00:00:00 +0100","qty":12},{"date":"2026-03-26 01:00:00 +0100","qty":3}"#
        let changes = try Self.changes("\"metrics\":[\(Self.metric("step_count", "count", entries))]")
        #expect(changes.rows.map(\.type) == Array(repeating: "HKQuantityTypeIdentifierStepCount.statistics", count: 2))
        #expect(changes.rows.map(\.end) == ["2026-03-26T00:00:00Z", "2026-03-26T01:00:00Z"])
        #expect(changes.rows.map(\.created) == [1_774_479_600, testNow.flooredSecond])
        #expect(changes.taken.map(\.count) == [2])
        #expect(changes.taken.map(\.reason) == ["the app sends it only as sums of hours"])
    }

    private static let values: [(String, String, Double)] = [
        ("blood_oxygen_saturation", "%", 0.97), ("body_mass_index", "kg/m²", 22.5),
        ("workout_effort_score", "score", 5),
        ("body_temperature", "°C", 36.6), ("respiratory_rate", "breaths/min", 14), ("weight_body_mass", "kg", 71.4),
        ("dietary_water", "L", 0.25), ("cycling_cadence", "rpm", 80),
    ]

    @Test(arguments: values)
    func aValueIsInHealthKitsUnit(name: String, unit: String, value: Double) throws {
        let entry = #"{"date":"2026-03-26 10:00:00 +0100","qty":\#(value),"source_uuid":"\#(Self.uuid)"}"#
        let row = try #require(try Self.rows(name, unit, entry).first)
        #expect(row.value == (name == "dietary_water" ? 250 : value))
    }

    /// Both parts come under the pair's UUID, which is neither's.
    @Test func partsOfABloodPressureHaveNoUUID() throws {
        let entry = #"{"date":"2026-03-26 10:00:00 +0100","qty":80,"source_uuid":"\#(Self.uuid)"}"#
        for name in ["blood_pressure_systolic", "blood_pressure_diastolic"] {
            let row = try #require(try Self.rows(name, "mmHg", entry).first)
            #expect(row.uuid.isEmpty && row.value == 80 && row.body["source_uuid"].string == Self.uuid)
        }
    }

    @Test func aCategoryHasItsNumber() throws {
        let row = try Self.one(
            "category_samples",
            #""id":"\#(Self.uuid)","type":"HKCategoryTypeIdentifierSleepAnalysis","value":3,"value_label":"Asleep Core","#
                + #""start_date":"2026-03-26 01:00:00 +0100","end_date":"2026-03-26 02:00:00 +0100","source":"Watch""#)
        #expect(row.type == "HKCategoryTypeIdentifierSleepAnalysis" && row.value == 3 && row.source == "Watch")
        #expect(row.uuid == Self.uuid.lowercased() && row.payload.isEmpty)
        #expect(row.start == "2026-03-26T00:00:00Z" && row.end == "2026-03-26T01:00:00Z")
    }

    @Test func aWorkoutIsAsHealthAutoExports() throws {
        let row = try Self.one(
            "workouts",
            #""id":"\#(Self.uuid)","name":"Traditional Strength Training","start":"2026-03-26 10:00:00 +0100","#
                + #""end":"2026-03-26 12:00:00 +0100","duration":100,"isIndoor":true,"#
                + #""distance":{"qty":5000,"units":"m"},"activeEnergyBurned":{"qty":300,"units":"kcal"}"#)
        #expect(row.uuid == Self.uuid.lowercased())
        #expect(row.body["activity"] == "HKWorkoutActivityTypeTraditionalStrengthTraining")
        // Seconds, even if they are few.
        #expect(row.body["durationSeconds"] == 100 && row.body["totalDistanceMeters"] == 5000)
        #expect(row.body["totalEnergyKilocalories"] == 300 && row.metadata.contains("HKIndoorWorkout"))
    }

    @Test func anElectrocardiogramLastsAsLongAsItsMeasurements() throws {
        let row = try Self.one(
            "ecg_recordings",
            #""id":"\#(Self.uuid)","classification":"Sinus Rhythm","average_heart_rate":61,"sampling_frequency":2,"#
                + #""voltage_measurements":[0.023,-0.005,0,0.1],"start_date":"2026-03-26 10:00:00 +0100","source":"ECG""#
        )
        #expect(row.type == "HKDataTypeIdentifierElectrocardiogram" && row.value == 61)
        #expect(row.body["microvolts"] == [23, -5, 0, 100] && row.body["classification"] == "Sinus Rhythm")
        #expect(row.body["samplingFrequency"] == 2 && row.body["averageHeartRate"] == 61)
        #expect(row.end == "2026-03-26T09:00:02Z" && row.source == "ECG" && row.uuid == Self.uuid.lowercased())
    }

    @Test func whatHasNoNumberKeepsItsMembers() throws {
        let start = #""id":"\#(Self.uuid)","source":"Hearing","start_date":"2026-03-26 10:00:00 +0100""#
        let audiogram = try Self.one(
            "audiograms", start + #","sensitivity_points":[{"hz":1000,"left_db":5,"right_db":10}]"#)
        #expect(audiogram.type == "HKDataTypeIdentifierAudiogram" && audiogram.value == nil)
        #expect(audiogram.body["sensitivity_points"].array?.count == 1)
        let mood = try Self.one("state_of_mind", start + #","kind":1,"valence":0.5,"labels":[4],"associations":[]"#)
        #expect(mood.type == "HKDataTypeIdentifierStateOfMind" && mood.body["valence"] == 0.5 && mood.body["kind"] == 1)
        let glasses = try Self.one(
            "vision_prescriptions",
            #""id":"\#(Self.uuid)","date_issued":"2026-03-26 10:00:00 +0100","right_eye":{"sphere":-1.5},"source":"Eye""#
        )
        #expect(glasses.type == "HKVisionPrescriptionTypeIdentifier" && glasses.start == "2026-03-26T09:00:00Z")
        #expect(glasses.body["right_eye"]["sphere"] == -1.5)
        let dose = try Self.one("medications", start + #","name":"A","dosage":"2.0 count","log_status":"taken""#)
        #expect(dose.type == "HKMedicationDoseEventTypeIdentifierMedicationDoseEvent" && dose.value == 2)
        #expect(dose.body["logStatus"] == "taken" && dose.body["name"] == "A")
    }

    @Test func oneThatIsNotUnderstoodLeavesTheOthers() throws {
        let good = #"{"date":"2026-03-26 10:00:00 +0100","qty":61,"source_uuid":"\#(Self.uuid)"}"#
        let changes = try Self.changes(
            "\"metrics\":[\(Self.metric("heart_rate", "bpm", good + #",{"date":"soon","qty":61},7"#))],"
                + #""activity_summaries":[{"date":"2026-03-26","active_energy":400}],"hologram":[1],"workouts":[],"#
                + #""category_samples":[{"type":"SleepAnalysis","value":3,"start_date":"2026-03-26 10:00:00 +0100"}]"#)
        #expect(changes.rows.map(\.line) == [1] && changes.quarantined.map(\.line) == [2, 3, 4, 5, 6])
        #expect(changes.reasons[2].contains("rings"))
        for input in changes.quarantined { #expect(WayIn.freeReps.records(in: input.raw) == nil) }
        let repaired = changes.quarantined[0].raw.replacing("soon", with: "2026-03-26 11:00:00 +0100")
        #expect(WayIn.freeReps.records(in: repaired)?.value == [61])
        let category = changes.quarantined[4].raw.replacing("\"Sleep", with: "\"HKCategoryTypeIdentifierSleep")
        #expect(WayIn.freeReps.records(in: category)?.value == [3])
    }

    /// Health Auto Export's own percentages stay as they are.
    @Test func theOtherAppsValuesAreReadAsBefore() throws {
        let entry = #"{"date":"2026-03-26 10:00:01 +0100","qty":97}"#
        #expect(try pushed(metric: "blood_oxygen_saturation", "%", entry).rows.map(\.value) == [0.97])
    }

    @Test(arguments: ["", "[]", "{}", #"{"data":1}"#, "{"]) func whatIsNoBodyIsRefused(body: String) {
        #expect(throws: PushError.self) {
            try WayIn.freeReps.changes(in: Array(body.utf8), type: "application/json", now: testNow)
        }
    }
}
