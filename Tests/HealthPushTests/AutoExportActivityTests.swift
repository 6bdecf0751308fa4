import HealthModel
import HealthPush
import Testing

/// The parts of a workout, its name, and what belongs to its session.
struct AutoExportActivityTests {
    private let times = #""start":"2026-09-01 07:00:00 +0200","end":"2026-09-01 08:00:00 +0200""#

    private func body(_ members: String) throws -> Value {
        let changes = try pushed(#""workouts":[{\#(times),\#(members)}]"#)
        #expect(changes.quarantined.isEmpty)
        return try #require(changes.rows.first).body
    }

    @Test func activitiesAreReadAsAnImportWouldWriteThem() throws {
        let body = try body(
            #"""
            "name":"Multisport","activities":[
            {"name":"Pool Swim","start":"2026-09-01 07:00:00 +0200","end":"2026-09-01 07:20:00 +0200","duration":20,
             "distance":{"qty":750,"units":"m"},"swolf":31},
            {"name":"Outdoor Cycle","start":"2026-09-01 07:22:00 +0200","end":"2026-09-01 07:40:00 +0200",
             "activeDuration":1000,"metrics":{"distance":{"qty":8,"units":"km"},"heart_rate":{"avg":141,"max":160},
             "activeEnergyBurned":{"qty":418.4,"units":"kJ"},"cycling_power":{"qty":180,"units":"W"},"mood":"good"}}]
            """#)
        #expect(body["activity"] == "HKWorkoutActivityTypeSwimBikeRun")
        let parts = try #require(body["activities"].array)
        #expect(parts.count == 2)
        #expect(
            parts[0] == [
                "name": "Pool Swim", "activity": "HKWorkoutActivityTypeSwimming", "start": "2026-09-01T05:00:00Z",
                "end": "2026-09-01T05:20:00Z", "durationSeconds": 1200, "totalDistanceMeters": 750, "swolf": 31,
            ])
        #expect(parts[1]["activity"] == "HKWorkoutActivityTypeCycling" && parts[1]["durationSeconds"] == 1000)
        #expect(
            parts[1]["totalDistanceMeters"] == 8000
                && parts[1]["totalEnergyKilocalories"].double.map { abs($0 - 100) < 1e-9 } == true)
        #expect(parts[1]["metrics"] == ["mood": "good"])
        #expect(
            parts[1]["statistics"] == [
                ["type": "HKQuantityTypeIdentifierCyclingPower", "unit": "W", "average": 180],
                ["type": "HKQuantityTypeIdentifierHeartRate", "unit": "count/min", "average": 141, "maximum": 160],
            ])
    }

    @Test func anActivityWithoutTimesOrNameIsKept() throws {
        let body = try body(#""name":"Running","activities":[{"activeDuration":1500},{"name":"Ausruhen"}],"events":[]"#)
        #expect(body["activities"] == [["durationSeconds": 1500], ["name": "Ausruhen", "activity": "Ausruhen"]])
        let numbers = try pushed(#""workouts":[{\#(times),"name":"Running","activities":[7]}]"#)
        #expect(numbers.reasons == ["the workout's activities has an entry that isn't an object"])
        let shapes = try pushed(#""workouts":[{\#(times),"name":"Running","activities":[{"statistics":7}]}]"#)
        #expect(shapes.reasons == ["the workout's activities: statistics isn't a list"])
        let dates = try pushed(#""workouts":[{\#(times),"name":"Running","activities":[{"start":"soon"}]}]"#)
        #expect(dates.reasons == ["the start of an activity isn't a date with an offset"])
    }

    @Test func impossibleNumbersOfAnActivityAreLeftOut() throws {
        let body = try body(#""name":"Running","activities":[{"name":"Run","distance":{"qty":9000,"units":"km"}}]"#)
        #expect(body["activities"].array?[0]["leftOut"] == ["distance": "9000 km"])
        #expect(body["activities"].array?[0]["totalDistanceMeters"].isNull == true)
    }

    @Test(arguments: [
        (#""name":"Morning with Ben","activity":"Running""#, "Running"),
        (#""name":"Morning","workoutActivityType":"HKWorkoutActivityTypeHiking""#, "Hiking"),
        (#""name":"Morning","activity":57"#, "Yoga"),
        (#""activityType":"TraditionalStrengthTraining""#, "TraditionalStrengthTraining"),
        (#""name":"OutdoorCycling""#, "Cycling"), (#""name":"HKWorkoutActivityTypeCoreTraining""#, "CoreTraining"),
    ])
    func theActivityMayBeInAnyMember(members: String, activity: String) throws {
        #expect(try body(members)["activity"].string == "HKWorkoutActivityType" + activity)
    }

    /// Where no reading is of the session, the stored samples decide.
    @Test func theRecoveryIsNotTheSessions() throws {
        let recovery = #"{"date":"2026-09-01 08:00:30 +0200","Min":90,"Avg":95,"Max":100,"units":"bpm"}"#
        #expect(try body(#""name":"Running","heartRateData":[\#(recovery)]"#)["statistics"].isNull)
        let both = try body(
            #""name":"Running","heartRateData":[{"date":"2026-09-01 07:10:00 +0200","qty":150,"units":"bpm"},\#(recovery)],"#
                + #""stepCount":[{"date":"2026-09-01 07:10:00 +0200","qty":100},{"date":"2026-09-01 09:10:00 +0200","qty":7}]"#
        )
        #expect(
            both["statistics"] == [
                [
                    "type": "HKQuantityTypeIdentifierHeartRate", "unit": "count/min", "average": 150, "minimum": 150,
                    "maximum": 150,
                ], ["type": "HKQuantityTypeIdentifierStepCount", "unit": "count", "sum": 100],
            ])
        #expect(both["heartRateData"].array?.count == 2)
        let recovered = try body(#""name":"Running","heartRateRecovery":[\#(recovery)]"#)
        #expect(recovered["statistics"].isNull && recovered["heartRateRecovery"].array?.count == 1)
    }
}
