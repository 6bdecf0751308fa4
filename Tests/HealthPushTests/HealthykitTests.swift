import HealthModel
import HealthPush
import Testing

/// What the app healthykit posts.
struct HealthykitTests {
    private static let uuid = "0B1C2D3E-4F50-6172-8394-A5B6C7D8E9F0"
    private static let times = #""start_at":"2026-03-26T09:00:00.000Z","end_at":"2026-03-26T09:10:00.250Z""#

    private static func changes(_ metrics: [String], workouts: [String] = []) throws -> PushedChanges {
        let body =
            #"{"device_id":"d","export_id":"\#(uuid)","generated_at":"2026-03-26T10:00:00Z","timezone":"Europe/Berlin","#
            + #""source":"ios-healthkit","schema_version":1,"metrics":[\#(metrics.joined(separator: ","))],"#
            + #""workouts":[\#(workouts.joined(separator: ","))]}"#
        return try WayIn.healthykit.changes(in: Array(body.utf8), type: "application/json", now: testNow)
    }

    private static func metric(
        _ type: String, _ value: String, _ unit: String, metadata: String = "{}", id: String = "healthkit:\(uuid)"
    ) -> String {
        #"{"id":"\#(id)","type":"\#(type)","value":\#(value),"unit":"\#(unit)",\#(times),"source_name":"Watch","#
            + #""source_bundle_id":"com.apple.health","metadata":\#(metadata)}"#
    }

    private static func one(_ metric: String) throws -> PushedRow {
        let changes = try changes([metric])
        #expect(changes.items == 1 && changes.quarantined.isEmpty, "\(changes.reasons)")
        return try #require(changes.rows.first)
    }

    @Test func aMetricIsASample() throws {
        let row = try Self.one(Self.metric("step_count", "120", "count", metadata: #"{"HKWasUserEntered":"1"}"#))
        #expect(row.type == "HKQuantityTypeIdentifierStepCount" && row.unit == "count" && row.value == 120)
        #expect(row.start == "2026-03-26T09:00:00Z" && row.end == "2026-03-26T09:10:00.25Z")
        #expect(row.uuid == Self.uuid.lowercased() && row.source == "Watch" && row.payload.isEmpty)
        #expect(row.metadata == #"{"HKWasUserEntered":"1"}"# && row.flags == 1)
    }

    private static let types: [(String, String, Double, String, Double)] = [
        ("heart_rate", "count/min", 61, "HeartRate", 61), ("hrv_sdnn", "ms", 45.5, "HeartRateVariabilitySDNN", 45.5),
        ("oxygen_saturation", "percent", 0.97, "OxygenSaturation", 0.97), ("water", "mL", 250, "DietaryWater", 250),
        ("dietary_carbs", "g", 20, "DietaryCarbohydrates", 20), ("dietary_fat", "g", 20, "DietaryFatTotal", 20),
        ("active_energy", "kcal", 12, "ActiveEnergyBurned", 12), ("body_mass", "kg", 71.4, "BodyMass", 71.4),
        ("apple_exercise_time", "minutes", 3, "AppleExerciseTime", 3),
        ("body_temperature", "degC", 36.6, "BodyTemperature", 36.6),
        ("vo2_max", "mL/kg/min", 40, "VO2Max", 40),
        ("running_vertical_oscillation", "cm", 8, "RunningVerticalOscillation", 0.08),
        ("physical_effort", "kcal/kg/hr", 3, "PhysicalEffort", 3), ("hologram_count", "lm", 2, "HologramCount", 2),
    ]

    @Test(arguments: types)
    func aTypeHasItsNameAndUnit(
        name: String, unit: String, value: Double, type: String, canonical: Double
    ) throws {
        let row = try Self.one(Self.metric(name, "\(value)", unit))
        let found = try #require(row.value)
        #expect(row.type == "HKQuantityTypeIdentifier" + type && abs(found - canonical) < 1e-9)
    }

    private static let stages: [(String, Double)] = [
        (#"{"sleep_stage":"asleep_core"}"#, 3), (#"{"sleep_stage":"in_bed"}"#, 0), (#"{"sleep_stage":"awake"}"#, 2),
        (
            #"{"sleep_stage":"asleep_rem","category_value":"5","category_label":"asleep_rem","HKTimeZone":"Asia/Tokyo"}"#,
            5
        ),
    ]

    @Test(arguments: stages)
    func sleepIsItsStage(metadata: String, value: Double) throws {
        let row = try Self.one(Self.metric("sleep_analysis", "610.25", "seconds", metadata: metadata))
        #expect(row.type == "HKCategoryTypeIdentifierSleepAnalysis" && row.value == value && row.unit.isEmpty)
        #expect(row.metadata == (metadata.contains("Tokyo") ? #"{"HKTimeZone":"Asia/Tokyo"}"# : ""))
    }

    @Test func otherCategoriesHaveTheirNumber() throws {
        let stood = try Self.one(
            Self.metric(
                "apple_stand_hour", "0", "category_value", metadata: #"{"category_value":"0","category_label":"0"}"#))
        #expect(stood.type == "HKCategoryTypeIdentifierAppleStandHour" && stood.value == 0 && stood.metadata.isEmpty)
        let unknown = try Self.one(Self.metric("hologram_event", "2", "category_value"))
        #expect(unknown.type == "HKCategoryTypeIdentifierHologramEvent" && unknown.value == 2)
    }

    @Test func historyIsSumsOfDays() throws {
        let metadata =
            #"{"aggregation":"daily_sum","aggregation_period":"day","aggregation_start":"a","aggregation_end":"b"}"#
        let row = try Self.one(
            Self.metric(
                "step_count", "9000", "count", metadata: metadata, id: "healthkit:aggregate:step_count:2026-03-26"))
        #expect(row.type == "HKQuantityTypeIdentifierStepCount.statistics" && row.value == 9000 && row.uuid.isEmpty)
        #expect(row.created == testNow.flooredSecond && row.metadata.isEmpty)
    }

    @Test func aWorkoutHasItsTotals() throws {
        let workout =
            #"{"id":"healthkit:\#(Self.uuid)","activity_type":"running",\#(Self.times),"duration_seconds":5,"#
            + #""total_energy_kcal":30,"active_energy_kcal":30,"distance_meters":1500.5,"source_name":"Watch","metadata":{}}"#
        let row = try #require(try Self.changes([], workouts: [workout]).rows.first)
        #expect(row.type == "HKWorkoutTypeIdentifier" && row.uuid == Self.uuid.lowercased() && row.source == "Watch")
        #expect(row.body["activity"] == "HKWorkoutActivityTypeRunning" && row.body["durationSeconds"] == 5)
        #expect(row.body["totalDistanceMeters"] == 1500.5 && row.body["totalEnergyKilocalories"] == 30)
        #expect(WayIn.healthykit.records(in: workout)?.count == 1)
    }

    private static let wrong: [(String, String)] = [
        ("7", "the item isn't an object"), (#"{"type":"step_count"}"#, "start_at isn't a date"),
        (metric("", "1", "count"), "type is missing"), (metric("blood_pressure", "1", "mmHg"), "type is missing"),
        (metric("step_count", "1", "km"), "unit doesn't belong"),
        (metric("step_count", "null", "count"), "value isn't a number"),
        (metric("sleep_analysis", "60", "seconds"), "neither the value"),
        (metric("sleep_analysis", "60", "seconds", metadata: #"{"sleep_stage":"unknown"}"#), "neither the value"),
        (metric("sleep_analysis", "60", "seconds", metadata: "[]"), "metadata isn't an object"),
        (metric("step_count", "1", "count").replacing("09:10", with: "08:10"), "end_at is before start_at"),
    ]

    @Test(arguments: wrong)
    func whatIsNotUnderstoodLeavesTheOthers(item: String, reason: String) throws {
        let good = Self.metric("step_count", "7", "count")
        let changes = try Self.changes([good, item, good])
        #expect(changes.items == 3 && changes.rows.map(\.line) == [1, 3] && changes.quarantined.map(\.line) == [2])
        #expect(changes.reasons.first?.hasPrefix(reason) == true, "\(changes.reasons)")
        #expect(changes.quarantined.first?.raw == item)
        #expect(WayIn.healthykit.records(in: item) == nil && WayIn.healthykit.records(in: good)?.value == [7])
    }

    /// The app takes any other answer for a failure, and sends all of it again.
    @Test func itsAnswerIsAsItExpects() throws {
        let reply = try #require(WayIn.healthykit.reply)
        #expect(reply(5, 2) == ["ok": true, "received": 5, "duplicates": 2])
    }

    @Test(arguments: ["", "[]", "{}", #"{"metrics":7}"#, #"{"metrics":["#]) func whatIsNoBodyIsRefused(body: String) {
        #expect(throws: PushError.self) {
            try WayIn.healthykit.changes(in: Array(body.utf8), type: "application/json", now: testNow)
        }
    }
}
