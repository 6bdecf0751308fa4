import HealthModel
import HealthPush
import Testing

struct SamplesBodyTests {
    private func changes(_ json: String) throws -> PushedChanges { try SamplesBody.changes(json: Array(json.utf8)) }

    @Test func aSampleIsARowInTheCanonicalUnit() throws {
        let changes = try changes(
            """
            {"samples": [{"uuid": "01977F3A-5C00-8ABC-9DEF-0123456789AB", "type": "HKQuantityTypeIdentifierDistanceWalkingRunning",
              "start": "2025-03-30T07:00:00+02:00", "end": "2025-03-30T07:10:00.250+02:00", "value": 0.129867, "unit": "km",
              "source": {"name": "Robin’s Watch", "version": "11.3", "productType": "Watch6,2"}, "device": "name:Watch",
              "metadata": {"HKWasUserEntered": 1}}]}
            """)
        let records = changes.records
        #expect(records.count == 1 && changes.items == 1 && changes.quarantined.isEmpty)
        #expect(records.types == ["HKQuantityTypeIdentifierDistanceWalkingRunning"] && records.units == ["m"])
        #expect(records.value == [129.867])
        #expect(InstantText.iso8601(records.startOf(0)) == "2025-03-30T05:00:00Z")
        #expect(records.endOf(0) - records.startOf(0) == .microseconds(600_250_000))
        #expect(records.origins[0].sourceName == "Robin’s Watch" && records.origins[0].device == "name:Watch")
        #expect(records.flags == [.userEntered])
        #expect(records.healthKitUUID == [SampleID("01977F3A-5C00-8ABC-9DEF-0123456789AB")])
        #expect(records.line == [1])
    }

    @Test func aCategoryIsTakenByNameOrNumber() throws {
        let type = "HKCategoryTypeIdentifierSleepAnalysis"
        let changes = try changes(
            """
            {"samples": [
              {"type": "\(type)", "start": 1743300000, "end": 1743301800, "value": "HKCategoryValueSleepAnalysisAsleepCore"},
              {"type": "\(type)", "start": 1743301800, "end": 1743303600, "value": 4},
              {"type": "\(type)", "start": 1743303600, "end": 1743305400, "value": "Kernschlaf"}]}
            """)
        #expect(changes.records.value == [3, 4])
        #expect(changes.quarantined.map(\.line) == [3])
    }

    @Test func aCorrelationBringsItsPartsAlong() throws {
        let changes = try changes(
            """
            {"samples": [{"type": "HKCorrelationTypeIdentifierBloodPressure", "start": "2025-03-30T07:00:00Z", "source": "Cuff", "parts": [
              {"type": "HKQuantityTypeIdentifierBloodPressureSystolic", "value": 121, "unit": "mmHg"},
              {"type": "HKQuantityTypeIdentifierBloodPressureDiastolic", "value": 79, "unit": "mmHg"}]}]}
            """)
        let records = changes.records
        #expect(records.count == 3 && changes.items == 1)
        #expect(records.flags == [[], .correlationChild, .correlationChild])
        #expect(records.value[0].isNaN && records.value[1...] == [121, 79])
        #expect(Set(records.start).count == 1 && records.origins.map(\.sourceName) == ["Cuff"])
        #expect(records.payload[0].contains("BloodPressureSystolic"))
    }

    @Test func aWorkoutNamesItsActivityOrNumbersIt() throws {
        for activity in ["37", "\"running\"", "\"HKWorkoutActivityTypeRunning\"", "\"Running\"", "\"Outdoor Run\""] {
            let changes = try changes(
                """
                {"samples": [{"type": "HKWorkoutTypeIdentifier", "start": 0, "end": 1800,
                  "workout": {"activity": \(activity), "durationSeconds": 1700.5}}]}
                """)
            #expect(changes.records.payload[0].contains("\"activity\":\"HKWorkoutActivityTypeRunning\""))
            #expect(changes.records.payload[0].contains("\"durationSeconds\":1700.5"))
        }
    }

    /// The payload of a workout of half an hour with these members beside its activity.
    private func workout(_ members: String) throws -> Value {
        let changes = try changes(
            """
            {"samples": [{"type": "HKWorkoutTypeIdentifier", "start": 0, "end": 1800,
              "workout": {"activity": "running", \(members)}}]}
            """)
        #expect(changes.quarantined.isEmpty)
        return try Value(json: Array(changes.records.payload[0].utf8))
    }

    @Test func aWorkoutsImpossibleNumbersAreLeftOut() throws {
        let payload = try workout(
            """
            "totalEnergyKilocalories": 1000000, "durationSeconds": 1e9, "totalDistanceMeters": 5012.50,
            "totalFlightsClimbed": -1, "leftOut": {"rowing": "7 parsecs"}, "mood": "good",
            "statistics": [
              {"type": "HKQuantityTypeIdentifierDistanceWalkingRunning", "sum": 5.5, "unit": "km"},
              {"type": "HKQuantityTypeIdentifierHeartRate", "average": 140, "maximum": 900}],
            "activities": [{"activity": "running", "durationSeconds": -1, "totalDistanceMeters": 5000,
              "statistics": [{"type": "HKQuantityTypeIdentifierActiveEnergyBurned", "sum": 1e6}]}]
            """)
        for name in ["totalEnergyKilocalories", "durationSeconds", "totalFlightsClimbed"] {
            #expect(payload[name].isNull, "\(name)")
        }
        #expect(payload["totalDistanceMeters"] == 5012.5 && payload["mood"] == "good")
        #expect(
            payload["statistics"] == [
                ["type": "HKQuantityTypeIdentifierDistanceWalkingRunning", "sum": 5500, "unit": "m"],
                ["type": "HKQuantityTypeIdentifierHeartRate", "average": 140],
            ])
        #expect(
            payload["activities"] == [
                [
                    "activity": "running", "totalDistanceMeters": 5000,
                    "statistics": [["type": "HKQuantityTypeIdentifierActiveEnergyBurned"]],
                ]
            ])
        #expect(
            payload["leftOut"] == [
                "rowing": "7 parsecs", "totalEnergyKilocalories": "1000000", "durationSeconds": "1e9 s",
                "totalFlightsClimbed": "-1", "HKQuantityTypeIdentifierHeartRate maximum": "900",
                "activities durationSeconds": "-1 s",
                "HKQuantityTypeIdentifierActiveEnergyBurned sum": "1000000",
            ])
    }

    @Test func aWorkoutsPossibleNumbersStayAsTheyAre() throws {
        let members =
            #""durationSeconds":1790.50,"statistics":[ {"sum": 5000, "type": "HKQuantityTypeIdentifierDistanceCycling"} ]"#
        let changes = try changes(
            """
            {"samples": [{"type": "HKWorkoutTypeIdentifier", "start": 0, "end": 1800, "workout": {"activity": 37, \(members)}}]}
            """)
        #expect(changes.records.payload[0] == #"{"activity":"HKWorkoutActivityTypeRunning",\#(members)}"#)
    }

    @Test(arguments: ["99", "\"99\""])
    func anActivityWithoutANameKeepsItsNumber(_ activity: String) throws {
        let changes = try changes(
            """
            {"samples": [{"type": "HKWorkoutTypeIdentifier", "start": 0, "end": 1800, "workout": {"activity": \(activity)}}]}
            """)
        #expect(changes.records.payload[0] == #"{"activity":"99"}"#)
    }

    @Test func statisticsHaveTheirOwnType() throws {
        let changes = try changes(
            """
            {"samples": [{"type": "HKQuantityTypeIdentifierHeartRate", "start": 0, "end": 3600, "value": 71, "unit": "count/min",
              "statistics": {"minimum": 52, "maximum": 140}}]}
            """)
        #expect(changes.records.types == [HealthType.statistics(of: "HKQuantityTypeIdentifierHeartRate")])
        #expect(changes.records.payload[0] == #"{"maximum":140,"minimum":52}"#)
    }

    @Test(arguments: [
        #""minimum": 0"#, #""maximum": 900"#, #""minimum": "52""#, #""maximum": 1e400"#,
        #""minimum": 52, "maximum": {}"#,
    ])
    func aStatisticsImpossibleMinimumOrMaximumIsQuarantined(_ members: String) throws {
        let changes = try changes(
            """
            {"samples": [{"type": "HKQuantityTypeIdentifierHeartRate", "start": 0, "end": 3600, "value": 71,
              "statistics": {\(members)}}]}
            """)
        #expect(changes.records.count == 0)
        #expect(changes.quarantined.map { $0.reason.hasSuffix("mum is impossible") } == [true])
    }

    @Test func aLocationIsAFixWithItsAccuracy() throws {
        let fix = #"{"latitude": 52.5, "longitude": -13.4, "horizontalAccuracy": 8.5, "altitude": 34}"#
        for member in ["location", "payload"] {
            let changes = try changes(
                "{\"samples\": [{\"type\": \"CLLocation\", \"start\": 1743300000, \"\(member)\": \(fix)}]}")
            #expect(changes.quarantined.isEmpty && changes.records.types == [HealthType.locationIdentifier])
            #expect(changes.records.payload[0] == fix && changes.records.value[0].isNaN)
        }
        for bad in [
            "", #", "location": 7"#, #", "location": {"latitude": 52.5}"#,
            #", "location": {"latitude": 90.5, "longitude": 0}"#, #", "location": {"latitude": 0, "longitude": "1"}"#,
            #", "location": {"latitude": 0, "longitude": 1, "horizontalAccuracy": "good"}"#,
        ] {
            let changes = try changes("{\"samples\": [{\"type\": \"CLLocation\", \"start\": 0\(bad)}]}")
            #expect(changes.records.count == 0 && changes.quarantined.count == 1, "\(bad)")
        }
    }

    @Test func oneBadItemFailsNoOther() throws {
        let good = #"{"type": "HKQuantityTypeIdentifierStepCount", "start": 0, "end": 60, "value": 12}"#
        let bad = [
            "7", "{}", #"{"type": "HKQuantityTypeIdentifierStepCount"}"#,
            #"{"type": "HKQuantityTypeIdentifierStepCount", "start": 60, "end": 0, "value": 12}"#,
            #"{"type": "HKQuantityTypeIdentifierStepCount", "start": 0, "value": "12"}"#,
            #"{"type": "HKQuantityTypeIdentifierStepCount", "start": 0, "value": 12, "unit": "kg"}"#,
            #"{"type": "HKQuantityTypeIdentifierStepCount", "start": 0, "value": 12, "uuid": "x"}"#,
            #"{"type": "HKQuantityTypeIdentifierStepCount", "start": 0, "value": 12, "metadata": []}"#,
            #"{"type": "HKWorkoutTypeIdentifier", "start": 0, "end": 1800}"#,
            #"{"type": "HKCorrelationTypeIdentifierFood", "start": 0}"#,
        ]
        for item in bad {
            let changes = try changes("{\"samples\": [\(good), \(item), \(good)]}")
            #expect(changes.records.line == [1, 3], "\(item)")
            #expect(changes.quarantined.map(\.line) == [2], "\(item)")
            #expect(changes.items == 3)
        }
    }

    @Test func deletionsAndLinesAreItemsToo() throws {
        let uuid = "01977f3a-5c00-8abc-9def-0123456789ab"
        let document = try changes("{\"deleted\": [\"\(uuid)\", {\"uuid\": \"\(uuid)\"}, 3], \"samples\": []}")
        #expect(document.deleted.count == 2 && document.deletedItems == [1, 2])
        #expect(document.quarantined.map(\.line) == [3])
        let lines = try SamplesBody.changes(
            lines: Array(
                """
                {"type": "HKQuantityTypeIdentifierStepCount", "start": 0, "end": 60, "value": 12}

                {"deleted": "\(uuid)"}
                not JSON
                """.utf8))
        #expect(lines.items == 3 && lines.records.line == [1] && lines.deletedItems == [2])
        #expect(lines.quarantined.map(\.line) == [3])
    }

    @Test(arguments: ["", "[]", "{}", "{\"samples\": 3}", "{\"samples\": []", "\u{1}", "{\"samples\": []} x"])
    func aBodyOfAnotherFormIsRefusedAsAWhole(_ body: String) {
        #expect(throws: PushError.self) { try changes(body) }
    }

    @Test func noTruncationAndNoFlippedByteEndsTheProgram() throws {
        let body = Array(
            """
            {"user": "me", "samples": [{"uuid": "01977f3a-5c00-8abc-9def-0123456789ab", "type": "HKCorrelationTypeIdentifierFood", "start": 1e9, \
            "source": {"name": "a\\u00e9\\n"}, "parts": [{"type": "HKQuantityTypeIdentifierDietarySugar", "value": 1e-3, "unit": "g"}]}], "deleted": ["x"]}
            """.utf8)
        for end in body.indices { _ = try? SamplesBody.changes(json: Array(body[..<end])) }
        for index in body.indices {
            for bit in [0, 1, 5, 7] {
                var broken = body
                broken[index] ^= 1 << bit
                _ = try? SamplesBody.changes(json: broken)
                _ = try? SamplesBody.changes(lines: broken)
            }
        }
    }
}
