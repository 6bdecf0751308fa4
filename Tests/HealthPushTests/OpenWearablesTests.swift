import HealthModel
import HealthPush
import Testing

/// What the Open Wearables SDK sends.
struct OpenWearablesTests {
    private static let id = "01977F3A-5C00-4ABC-9DEF-0123456789AB"
    private static let watch =
        #"{"appId":"com.apple.health.3F1C","deviceId":null,"deviceName":"Apple Watch","deviceModel":"Watch6,2","deviceType":"watch"}"#

    private func changes(_ lists: String, provider: String = "apple") throws -> PushedChanges {
        try WayIn.openWearables.changes(
            in: Array(
                """
                {"syncTimestamp":"2025-03-30T08:00:00Z","data":{\(lists)},"sdkVersion":"0.6.0","provider":"\(provider)"}
                """.utf8), type: "application/json", now: testNow)
    }

    /// An item's members that are the same for all kinds.
    private func item(_ members: String, id: String = Self.id) -> String {
        #"{"id":"\#(id)","parentId":null,"startDate":"2025-03-30T05:00:00Z","endDate":"2025-03-30T05:10:00Z","#
            + #""zoneOffset":null,"source":\#(Self.watch),"metadata":null,\#(members)}"#
    }

    private func record(_ type: String, _ value: String, _ unit: String?) -> String {
        let unit = unit.map { "\"\($0)\"" } ?? "null"
        return item(#""type":"\#(type)","value":\#(value),"unit":\#(unit)"#)
    }

    @Test func aRecordIsARowWithItsUUID() throws {
        let metadata = #"{"HKWasUserEntered":"1","HKTimeZone":"Europe/Berlin"}"#
        let changes = try changes(
            """
            "records":[{"id":"\(Self.id)","type":"HKQuantityTypeIdentifierStepCount","startDate":"2025-03-30T05:00:00Z",
              "endDate":"2025-03-30T07:10:00+02:00","value":512,"unit":"count","source":\(Self.watch),"metadata":\(metadata)}]
            """)
        let row = try #require(changes.rows.first)
        #expect(changes.items == 1 && changes.rows.count == 1 && changes.quarantined.isEmpty)
        #expect(row.type == "HKQuantityTypeIdentifierStepCount" && row.unit == "count" && row.value == 512)
        #expect(row.start == "2025-03-30T05:00:00Z" && row.end == "2025-03-30T05:10:00Z")
        #expect(row.uuid == Self.id.lowercased() && row.line == 1 && row.metadata == metadata)
        // Nothing else says which device it was.
        #expect(row.source == "com.apple.health.3F1C" && changes.records.origins[0].productType == "Watch6,2")
        #expect(changes.records.flags == [.userEntered])
    }

    /// In units as the SDK writes them.
    @Test(arguments: [
        ("OxygenSaturation", "97", "%", 0.97, "%"), ("OxygenSaturation", "94.5", "%", 0.945, "%"),
        ("BodyFatPercentage", "0.214", "%", 0.214, "%"), ("WalkingAsymmetryPercentage", "0.02", "%", 0.02, "%"),
        ("HeartRate", "61", "bpm", 61, "count/min"), ("RespiratoryRate", "14.5", "breaths/min", 14.5, "count/min"),
        ("ActiveEnergyBurned", "12.5", "Cal", 12.5, "kcal"), ("DistanceWalkingRunning", "870", "m", 870, "m"),
        ("BodyMass", "71.4", "kg", 71.4, "kg"), ("BodyMassIndex", "22.5", "count", 22.5, "count"),
        ("VO2Max", "42.5", "mL/kg/min", 42.5, "mL/min·kg"), ("BloodPressureSystolic", "121", "mmHg", 121, "mmHg"),
    ])
    func aValueEndsInTheTypesUnit(
        _ type: String, _ value: String, _ unit: String, _ expected: Double, _ canonical: String
    ) throws {
        let rows = try changes("\"records\":[\(record("HKQuantityTypeIdentifier" + type, value, unit))]").rows
        #expect(rows.map(\.value) == [expected] && rows.map(\.unit) == [canonical], "\(rows)")
    }

    @Test func aCategoryIsItsNumber() throws {
        let rows = try changes("\"records\":[\(record("HKCategoryTypeIdentifierMenstrualFlow", "3", nil))]").rows
        #expect(rows.map(\.value) == [3] && rows.map(\.unit) == [""])
    }

    @Test func sleepIsACategoryByItsStages() throws {
        let stages = ["in_bed", "inBed", "sleeping", "awake", "light", "deep", "rem"]
        let items = (stages + ["unknown"]).map { item(#""stage":"\#($0)","values":null"#) }
        let changes = try changes("\"sleep\":[\(items.joined(separator: ","))]")
        #expect(Set(changes.rows.map(\.type)) == ["HKCategoryTypeIdentifierSleepAnalysis"])
        #expect(changes.rows.map(\.value) == [0, 0, 1, 2, 3, 4, 5] && changes.items == 8)
        #expect(changes.quarantined.map(\.line) == [8] && !changes.reasons[0].contains("unknown"))
    }

    @Test func aWorkoutIsAsFromOtherPrograms() throws {
        let values = [
            ("duration", "590.5", "s"), ("activeEnergyBurned", "81.25", "kcal"), ("distance", "1200", "m"),
            ("minHeartRate", "92", "bpm"), ("averageHeartRate", "141.5", "bpm"), ("maxHeartRate", "900", "bpm"),
            ("averageVerticalOscillation", "8.5", "cm"), ("weatherTemperature", "11", "degC"),
        ].map { #"{"type":"\#($0)","value":\#($1),"unit":"\#($2)"}"# }
        let list = values.joined(separator: ",")
        let workout = item(#""type":"strength_training","route":null,"values":[\#(list)]"#)
        let row = try #require(try changes("\"workouts\":[\(workout)]").rows.first)
        #expect(row.type == "HKWorkoutTypeIdentifier" && row.value == nil && row.uuid == Self.id.lowercased())
        let body = row.body
        #expect(body["activity"] == "HKWorkoutActivityTypeTraditionalStrengthTraining")
        #expect(body["durationSeconds"] == 590.5)
        #expect(body["totalEnergyKilocalories"] == 81.25 && body["totalDistanceMeters"] == 1200)
        let statistics = body["statistics"].array ?? []
        let heart = statistics.first { $0["type"] == "HKQuantityTypeIdentifierHeartRate" }
        #expect(heart?["minimum"] == 92 && heart?["average"] == 141.5 && heart?["unit"] == "count/min")
        // Impossible numbers are kept, but not counted.
        #expect(heart?["maximum"].isNull == true && body["leftOut"].object?.isEmpty == false)
        let oscillation = statistics.first { $0["type"] == "HKQuantityTypeIdentifierRunningVerticalOscillation" }
        #expect(oscillation?["average"] == 0.085 && oscillation?["unit"] == "m")
        #expect(body["weatherTemperature"] == ["value": 11, "unit": "degC"])
    }

    /// By the names that the SDK has for HealthKit's.
    @Test(arguments: [
        ("running", "Running"), ("hiit", "HighIntensityIntervalTraining"), ("wheelchair_run", "WheelchairRunPace"),
        ("surfing", "SurfingSports"), ("skating", "SkatingSports"), ("equestrian", "EquestrianSports"),
        ("water_polo", "WaterPolo"), ("stair_climbing", "StairClimbing"), ("swim_bike_run", "SwimBikeRun"),
        ("mixed_metabolic_cardio_training", "MixedMetabolicCardioTraining"), ("other", "Other"),
    ])
    func anActivityIsKnown(name: String, expected: String) throws {
        let workout = item(#""type":"\#(name)","values":[]"#)
        let rows = try changes("\"workouts\":[\(workout)]").rows
        #expect(rows.first?.body["activity"].string == "HKWorkoutActivityType" + expected)
    }

    /// A correlation isn't sent: its samples are, like any others.
    @Test func theSamplesOfACorrelationAreSamples() throws {
        let changes = try changes(
            """
            "records":[\(record("HKQuantityTypeIdentifierBloodPressureSystolic", "121", "mmHg")),
              \(record("HKQuantityTypeIdentifierBloodPressureDiastolic", "79", "mmHg"))]
            """)
        #expect(changes.records.flags == [[], []] && changes.rows.map(\.value) == [121, 79])
    }

    @Test func whatIsNotUnderstoodIsAlone() throws {
        let steps = "HKQuantityTypeIdentifierStepCount"
        let bad = [
            "7", "\"x\"", "{}", record(steps, "null", "count"), record(steps, "\"512\"", "count"),
            record(steps, "512", "parsec"), record("running", "512", "count"),
            record("HKCategoryTypeIdentifierMenstrualFlow", "1.5", nil), item("\"type\":\"\(steps)\"", id: "512"),
            record(steps, "512", "count").replacing("2025-03-30T05:10:00Z", with: "2025-03-30T04:10:00Z"),
            record(steps, "512", "count").replacing("2025-03-30T05:00:00Z", with: "yesterday"),
        ]
        let records = (bad + [record(steps, "512", "count")]).joined(separator: ",")
        let odd = item(#""type":"telepathy","values":[]"#)
        let empty = item(#""type":"running","values":[{"type":"distance"}]"#)
        let changes = try changes("\"records\":[\(records)],\"workouts\":[\(odd),\(empty)]")
        #expect(changes.rows.map(\.line) == [12] && changes.items == 14)
        #expect(changes.quarantined.map(\.line) == Array(1...11) + [13, 14])
        for reason in changes.reasons {
            #expect(!reason.isEmpty && !reason.contains("512") && !reason.contains("telepathy"), "\(reason)")
        }
    }

    @Test func anItemIsReadAgainFromTheQuarantine() throws {
        let way = WayIn.openWearables
        #expect(way.records(in: record("HKQuantityTypeIdentifierOxygenSaturation", "97", "%"))?.value == [0.97])
        #expect(way.records(in: item(#""stage":"rem""#))?.value == [5])
        #expect(way.records(in: item(#""type":"running","values":[]"#))?.types == ["HKWorkoutTypeIdentifier"])
        #expect(way.records(in: record("HKQuantityTypeIdentifierStepCount", "null", "count")) == nil)
    }

    @Test func aListMayBeMissingOrNull() throws {
        #expect(try changes("").items == 0)
        #expect(try changes(#""records":null,"sleep":[],"other":[1]"#).items == 0)
    }

    @Test(arguments: [
        ("{\"provider\":\"apple\"}", "data"), ("{\"data\":{\"records\":[]},\"provider\":\"samsung\"}", "provider"),
        ("{\"data\":{\"records\":7},\"provider\":\"apple\"}", "invalid"), ("{\"provider\":", "invalid"),
        ("[]", "invalid"),
        ("{\"data\":{\"metrics\":[]}}", "POST /v1/health-auto-export"), ("{\"samples\":[]}", "POST /v1/samples"),
    ])
    func anotherBodyIsRefusedAsAWhole(_ body: String, _ word: String) throws {
        let error = try #require(throws: PushError.self) {
            try WayIn.openWearables.changes(in: Array(body.utf8), type: "application/json", now: testNow)
        }
        #expect(error.description.contains(word), "\(error)")
    }

    /// Each way names the path of another one's body.
    @Test func aBodyAtAnotherPathIsRefusedWithThatPath() throws {
        let body =
            #"{"provider":"apple","data":{"records":[\#(record("HKQuantityTypeIdentifierStepCount", "5", "count"))]}}"#
        for way in [WayIn.samples, .healthAutoExport] {
            let error = try #require(throws: PushError.self) {
                try way.changes(in: Array(body.utf8), type: "application/json", now: testNow)
            }
            #expect(error.description.contains("POST \(WayIn.openWearables.path)"), "\(error)")
        }
    }
}
