import HealthModel
import HealthPush
import Testing

/// Members of a pushed workout that have the wrong shape: the item is refused, so that they displace nothing.
@Suite struct WorkoutShapeTests {
    private static let heart = #"{"type":"HKQuantityTypeIdentifierHeartRate","average":140}"#

    private func changes(_ members: String) throws -> PushedChanges {
        let body = """
            {"samples": [{"type": "HKWorkoutTypeIdentifier", "start": 0, "end": 1800,
              "workout": {"activity": "running", \(members)}}]}
            """
        return try SamplesBody.changes(json: Array(body.utf8))
    }

    @Test(
        arguments: [
            (#""statistics":"a secret""#, "statistics isn't a list"),
            (#""statistics":7654"#, "statistics isn't a list"),
            (#""statistics":{"type":"a secret"}"#, "statistics isn't a list"),
            (#""statistics":[null]"#, "statistics has an entry that isn't an object"),
            (#""statistics":[\#(heart),{"sum":7654}]"#, "statistics: an entry has no type"),
            (#""statistics":[{"type":"HKQuantityTypeIdentifierHeartRate"}]"#, "statistics: an entry has no number"),
            (#""statistics":[{"type":"T","sum":null}]"#, "statistics: an entry has no number"),
            (#""statistics":[{"type":"T","sum":"7654"}]"#, "statistics: sum isn't a number"),
            (#""statistics":[{"type":"T","sum":7654,"unit":7654}]"#, "statistics: unit isn't text"),
            (#""stat\u0069stics":"a secret""#, "statistics isn't a list"),
            (#""statistics":[\#(heart)],"statistics":[]"#, "workout has statistics twice"),
            (#""activities":{"start":"a secret"}"#, "activities isn't a list"),
            (#""activities":[{"start":7654}]"#, "activities: start isn't a date"),
            (#""activities":[{"statistics":"a secret"}]"#, "activities: statistics isn't a list"),
            (#""activities":[{"durationSeconds":"a secret"}]"#, "activities: durationSeconds isn't a number"),
            (#""activities":[{"activity":[]}]"#, "activities: activity is neither a name nor a number"),
            (#""events":[null]"#, "events has an entry that isn't an object"),
            (#""events":[{"type":"HKWorkoutEventTypePause"}]"#, "events: an entry has no date"),
            (#""events":[{"type":"HKWorkoutEventTypePause","date":"a secret"}]"#, "events: date isn't a date"),
            (#""events":[{"date":"2025-03-30T10:00:00Z"}]"#, "events: an entry has no type"),
            (#""durationSeconds":"a secret""#, "durationSeconds isn't a number"),
            (#""totalDistanceMeters":{"qty":7654}"#, "totalDistanceMeters isn't a number"),
            (#""routeSummary":"a secret""#, "routeSummary isn't an object"), (#""route":[7654]"#, "route isn't text"),
            (#""leftOut":"a secret""#, "leftOut isn't an object"),
        ])
    func theWrongShapeIsRefused(_ members: String, _ reason: String) throws {
        let changes = try changes(members)
        #expect(changes.records.count == 0 && changes.quarantined.count == 1)
        let found = try #require(changes.quarantined.first).reason
        #expect(found.hasSuffix(reason), "\(found)")
        #expect(!found.contains("secret") && !found.contains("7654"), "\(found)")
    }

    @Test func theRightShapeIsTaken() throws {
        let changes = try changes(
            """
            "statistics": [\(Self.heart), {"type": "T", "sum": 1, "average": null}], "durationSeconds": null,
            "events": [{"type": "HKWorkoutEventTypePause", "date": "2025-03-30T10:00:00Z", "durationSeconds": null}],
            "activities": [{"start": "2025-03-30T10:00:00Z", "end": null, "activity": 37, "statistics": [\(Self.heart)]},
              {"activity": "yoga", "events": []}],
            "route": "/workout-routes/a.gpx", "weather": [1, "two"]
            """)
        #expect(changes.quarantined.isEmpty)
        let payload = try Value(json: Array(changes.records.payload[0].utf8))
        #expect(payload["statistics"].array?.count == 2 && payload["events"].array?.count == 1)
        #expect(
            payload["activities"].array?.map { $0["activity"] } == ["HKWorkoutActivityTypeRunning", "yoga"])
        #expect(payload["weather"] == [1, "two"] && payload["durationSeconds"].isNull)
    }

    /// Another stack leaves out numbers too, and says so.
    @Test func aStatisticWhoseNumbersWereLeftOutIsTaken() throws {
        let statistic = #"{"type":"HKQuantityTypeIdentifierHeartRate"}"#
        let left = #""leftOut":{"HKQuantityTypeIdentifierHeartRate average":"900 count/min"}"#
        #expect(try changes(#""statistics":[\#(statistic)],\#(left)"#).quarantined.isEmpty)
    }

    @Test(arguments: [#""statistics":"a secret""#, #""events":[null]"#, #""activities":{}"#, #""leftOut":7654"#])
    func anAppsWorkoutIsCheckedToo(_ members: String) throws {
        let changes = try pushed(
            #""workouts":[{"start":"2026-09-01 07:00:00 +0200","end":"2026-09-01 07:30:00 +0200","name":"Run",\#(members)}]"#
        )
        #expect(changes.rows.isEmpty && changes.quarantined.count == 1)
        let reason = try #require(changes.quarantined.first).reason
        #expect(reason.hasPrefix("the workout's ") && !reason.contains("secret") && !reason.contains("7654"))
    }
}
