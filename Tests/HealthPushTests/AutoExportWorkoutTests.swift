import HealthModel
import HealthPush
import Testing

struct AutoExportWorkoutTests {
    private let times = #""start":"2026-09-01 07:00:00 +0200","end":"2026-09-01 07:30:00 +0200""#

    private func workout(_ members: String) throws -> PushedRow {
        let changes = try pushed(#""workouts":[{\#(times),\#(members)}]"#)
        #expect(changes.items == 1 && changes.quarantined.isEmpty)
        return try #require(changes.rows.first)
    }

    @Test func theSecondVersionIsReadAsAnImportWouldWriteIt() throws {
        let row = try workout(
            #"""
            "id":"0B1C2D3E-4F50-6172-8394-A5B6C7D8E9F0","name":"Outdoor Run","duration":1750.5,"location":"Outdoor",
            "activeEnergyBurned":{"qty":1464.4,"units":"kJ"},"distance":{"units":"km","qty":5.2},
            "temperature":{"qty":18,"units":"degC"},"source":"Anna’s Apple Watch",
            "heartRateData":[{"date":"2026-09-01 07:00:00 +0200","Min":90,"Avg":100,"Max":120,"units":"bpm","source":"W"},
            {"date":"2026-09-01 07:01:00 +0200","Min":110,"Avg":130,"Max":150,"units":"bpm","source":"W"}],
            "stepCount":[{"qty":80,"units":"steps","source":"W"},{"qty":90,"units":"steps","source":"W"}],
            "route":[{"latitude":52.5,"longitude":13.4,"altitude":30,"horizontalAccuracy":5,"verticalAccuracy":5,
            "timestamp":"2026-09-01 07:00:00 +0200"},{"latitude":52.51,"longitude":13.4,"altitude":40,
            "horizontalAccuracy":5,"verticalAccuracy":5,"timestamp":"2026-09-01 07:05:00 +0200"}],
            "metadata":{"HKTimeZone":"Europe/Berlin"},"heartRateRecovery":null
            """#)
        #expect(row.type == "HKWorkoutTypeIdentifier" && row.value == nil && row.source == "Anna’s Apple Watch")
        #expect(row.uuid == "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0")
        #expect(row.start == "2026-09-01T05:00:00Z" && row.end == "2026-09-01T05:30:00Z")
        #expect(row.metadata == #"{"HKIndoorWorkout":"0","HKTimeZone":"Europe/Berlin"}"#)
        let body = row.body
        #expect(body["activity"] == "HKWorkoutActivityTypeRunning" && body["name"] == "Outdoor Run")
        #expect(body["durationSeconds"] == 1750.5 && body["totalDistanceMeters"] == 5200)
        #expect(body["totalEnergyKilocalories"].double.map { abs($0 - 350) < 1e-9 } == true)
        #expect(
            body["statistics"] == [
                [
                    "type": "HKQuantityTypeIdentifierHeartRate", "unit": "count/min", "average": 115, "minimum": 90,
                    "maximum": 150,
                ], ["type": "HKQuantityTypeIdentifierStepCount", "unit": "count", "sum": 170],
            ])
        #expect(body["routeSummary"]["points"] == 2 && body["routeSummary"]["track"]["latitude"].array?.count == 2)
        #expect(body["routeSummary"]["distanceMeters"].double.map { abs($0 - 1112) < 10 } == true)
        #expect(body["temperature"] == ["qty": 18, "units": "degC"] && body["heartRateData"].array?.count == 2)
        #expect(body["route"].isNull && body["id"].isNull && body["heartRateRecovery"].isNull)
    }

    @Test func theFirstVersionIsReadToo() throws {
        let row = try workout(
            #"""
            "name":"Walking","heartRateData":[{"qty":108,"date":"2026-09-01 07:00:09 +0200","units":"bpm"}],
            "maxHeartRate":{"qty":131,"units":"bpm"},"elevation":{"units":"m","ascent":16.4,"descent":0},
            "stepCount":{"qty":908,"units":"steps"},"activeEnergy":{"qty":226,"units":"kcal"},
            "totalEnergy":{"qty":280,"units":"kcal"},"route":[{"lat":52.5,"lon":13.4,"altitude":30,
            "timestamp":"2026-09-01 07:00:00 +0200"}]
            """#)
        let body = row.body
        #expect(body["activity"] == "HKWorkoutActivityTypeWalking" && body["totalEnergyKilocalories"] == 226)
        #expect(
            body["statistics"].array?.map { $0["type"] } == [
                "HKQuantityTypeIdentifierHeartRate", "HKQuantityTypeIdentifierStepCount",
            ])
        #expect(body["statistics"].array?[0]["maximum"] == 131 && body["statistics"].array?[0]["average"] == 108)
        #expect(body["statistics"].array?[1]["sum"] == 908 && body["routeSummary"]["points"] == 1)
        #expect(body["elevation"]["ascent"] == 16.4 && body["totalEnergy"]["qty"] == 280 && row.metadata.isEmpty)
        #expect(body["durationSeconds"].isNull)
    }

    @Test(arguments: [("1800", 1800.0), ("30", 1800), ("29.5", 1770), ("600", 600), ("1800.0001", 1800.0001)])
    func aDurationIsInSecondsOrMinutes(duration: String, seconds: Double) throws {
        let row = try workout(#""name":"Yoga","duration":\#(duration)"#)
        #expect(row.body["durationSeconds"].double == seconds)
    }

    @Test(arguments: [
        ("Traditional Strength Training", "TraditionalStrengthTraining"), ("Indoor Cycle", "Cycling"),
        ("Outdoor Cycling", "Cycling"), ("Pool Swim", "Swimming"), ("Open Water Swim", "Swimming"),
        ("Hiking", "Hiking"),
        ("High Intensity Interval Training", "HighIntensityIntervalTraining"), ("Core Training", "CoreTraining"),
        ("Other", "Other"), ("Water Polo", "WaterPolo"), ("Indoor_Run", "Running"), ("Mind and Body", "MindAndBody"),
        ("Functional Strength Training", "FunctionalStrengthTraining"), ("Cooldown", "Cooldown"),
        ("Elliptical", "Elliptical"),
    ])
    func activitiesAreKnownByName(name: String, activity: String) throws {
        let row = try workout(#""name":"\#(name)""#)
        #expect(row.body["activity"].string == "HKWorkoutActivityType" + activity && row.body["name"].string == name)
    }

    @Test func aNameOfAnotherLanguageIsKept() throws {
        let row = try workout(#""name":"Outdoor Ausführen""#)
        #expect(
            row.body["activity"] == "Outdoor Ausführen" && WorkoutActivity(named: "Outdoor Ausführen").name == "other")
        #expect(row.metadata == #"{"HKIndoorWorkout":"0"}"#)
    }

    @Test func seriesAreAddedUpOnlyOfOneSource() throws {
        let one = try workout(
            #""name":"Walking","walkingAndRunningDistance":[{"qty":0.5,"units":"km","source":"W"},"#
                + #"{"qty":0.25,"units":"km","source":"W"}]"#
        )
        #expect(one.body["statistics"].array?[0]["sum"] == 750)
        let two = try workout(
            #""name":"Walking","walkingAndRunningDistance":[{"qty":0.5,"units":"km","source":"W"},"#
                + #"{"qty":0.5,"units":"km","source":"P"}]"#
        )
        #expect(two.body["statistics"].isNull && two.body["walkingAndRunningDistance"].array?.count == 2)
        let reported = try workout(
            #""name":"Walking","distance":{"qty":1,"units":"km"},"walkingAndRunningDistance":[{"qty":0.5,"units":"km"}]"#
        )
        #expect(reported.body["totalDistanceMeters"] == 1000 && reported.body["statistics"].isNull)
    }

    @Test func numbersThatCannotBeTrueAreLeftOut() throws {
        let row = try workout(
            #""name":"Running","distance":{"qty":9000,"units":"km"},"duration":{"qty":30,"units":"kg"}"#)
        #expect(row.body["totalDistanceMeters"].isNull && row.body["durationSeconds"].isNull)
        #expect(row.body["leftOut"] == ["distance": "9000 km", "duration": "30 kg"])
    }

    @Test func whatIsTooLongForARowIsNamed() throws {
        let long = String(repeating: "x", count: 300_000)
        let row = try workout(#""name":"Running","long":"\#(long)","short":"y""#)
        #expect(row.body["notKept"] == ["long"] && row.body["short"] == "y" && row.body["long"].isNull)
    }

    @Test func aWorkoutWithoutTimesOrNameIsKeptApart() throws {
        let changes = try pushed(
            #""workouts":[{"name":"Running","start":"soon","end":"later"},{\#(times)},7,{"name":"Walking",\#(times)}]"#)
        #expect(changes.items == 4 && changes.rows.map(\.line) == [4])
        #expect(
            changes.reasons == [
                "the start isn't a date with an offset", "the workout has no name", "the item isn't an object",
            ])
        #expect(changes.quarantined[2].raw == #"{"workouts":[7]}"#)
    }
}
