import HealthModel
import HealthPush
import Testing

struct AutoExportStatisticsTests {
    private let steps = "HKQuantityTypeIdentifierStepCount.statistics"

    @Test(arguments: [
        ("Seconds", "2026-09-01T08:20:31Z"), ("minutes", "2026-09-01T08:21:30Z"), ("Hours", "2026-09-01T09:20:30Z"),
        ("Days", "2026-09-02T08:20:30Z"), ("weekly", "2026-09-08T08:20:30Z"), ("Month", "2026-10-01T08:20:30Z"),
        ("YEARS", "2027-09-01T08:20:30Z"),
    ])
    func theHeaderSaysHowLongASumIs(header: String, end: String) throws {
        let changes = try pushed(
            metric: "step_count", "count", #"{"qty":800,"date":"2026-09-01 10:20:30 +0200","source":"Watch|iPhone"}"#,
            aggregation: header)
        let row = try #require(changes.rows.first)
        #expect(row.type == steps && row.unit == "count" && row.value == 800 && row.source == "Watch|iPhone")
        #expect(row.start == "2026-09-01T08:20:30Z" && row.end == end && row.payload.isEmpty)
        #expect(row.created == testNow.flooredSecond)
    }

    @Test(arguments: ["none", "Off", "unaggregated"])
    func theHeaderMaySayThatNothingIsAddedUp(header: String) throws {
        let changes = try pushed(
            metric: "dietary_water", "mL", #"{"qty":800,"date":"2026-09-01 00:00:00 +0200"}"#, aggregation: header)
        #expect(changes.rows.map(\.type) == ["HKQuantityTypeIdentifierDietaryWater"] && changes.rows[0].created == 0)
        #expect(changes.rows[0].end == changes.rows[0].start)
    }

    @Test func aMonthEndsWithTheCalendar() throws {
        let changes = try pushed(
            metric: "step_count", "count",
            #"{"qty":1,"date":"2026-01-31 00:00:00 +0100"},{"qty":2,"date":"2026-12-01 00:00:00 +0100"}"#,
            aggregation: "Months")
        #expect(changes.rows.map(\.end) == ["2026-02-28T23:00:00Z", "2026-12-31T23:00:00Z"])
    }

    /// Only all dates of a metric taken together are conclusive, because the first hour of a day also begins at
    /// midnight.
    @Test(arguments: [
        (["00:00:00", "00:00:00"], 86_400), (["00:00:00", "13:00:00"], 3600), (["00:00:00", "13:05:00"], 60),
        (["00:00:00", "13:05:01"], 600),
    ])
    func withoutAHeaderTheDatesDecide(times: [String], seconds: Int) throws {
        let entries = times.enumerated().map { index, time in
            #"{"qty":10,"date":"2026-09-0\#(index + 1) \#(time) +0200"}"#
        }
        let changes = try pushed(metric: "step_count", "count", entries.joined(separator: ","))
        let lengths = (0..<changes.records.count).map {
            Int(changes.records.end[$0] - changes.records.start[$0]) / 1_000_000
        }
        #expect(lengths == [seconds, seconds])
        #expect(changes.rows.allSatisfy { ($0.type == steps) == (seconds > 0) })
    }

    @Test func theDefaultAggregationIsMinutesAtMost() throws {
        let changes = try pushed(
            metric: "step_count", "count", #"{"qty":10,"date":"2026-09-01 00:00:00 +0200"}"#, aggregation: "Default")
        #expect(changes.rows.map(\.end) == ["2026-08-31T22:01:00Z"] && changes.rows[0].type == steps)
    }

    @Test func aMeanHasItsMinimumAndMaximumInThePayload() throws {
        let changes = try pushed(
            metric: "heart_rate", "bpm",
            #"{"Max":120,"Avg":72.5,"source":"Watch","Min":51,"date":"2026-09-01 10:00:00 +0200"}"#,
            aggregation: "Hours")
        let row = try #require(changes.rows.first)
        #expect(row.type == "HKQuantityTypeIdentifierHeartRate.statistics" && row.unit == "count/min")
        #expect(row.value == 72.5 && row.payload == #"{"maximum":120,"minimum":51}"#)
        #expect(row.start == "2026-09-01T08:00:00Z" && row.end == "2026-09-01T09:00:00Z")
        let oxygen = try pushed(
            metric: "blood_oxygen_saturation", "%",
            #"{"Max":100,"Avg":97,"Min":93,"date":"2026-09-01 00:00:00 +0200"}"#, aggregation: "Days")
        #expect(oxygen.rows[0].value == 0.97 && oxygen.rows[0].payload == #"{"maximum":1,"minimum":0.93}"#)
    }

    @Test func oneBeatIsASample() throws {
        let changes = try pushed(
            metric: "heart_rate", "count/min",
            #"{"Min":61,"Avg":61,"Max":61,"date":"2026-09-01 10:00:07 +0200"},"#
                + #"{"Min":61,"Avg":62,"Max":63,"date":"2026-09-01 10:00:09 +0200"}"#)
        #expect(changes.rows[0].type == "HKQuantityTypeIdentifierHeartRate" && changes.rows[0].payload.isEmpty)
        #expect(changes.rows[0].value == 61 && changes.rows[0].end == changes.rows[0].start)
        // An entry with two values isn't a sample, whatever its time.
        #expect(changes.rows[1].type == "HKQuantityTypeIdentifierHeartRate.statistics")
        #expect(changes.rows[1].end == "2026-09-01T08:00:10Z")
    }

    @Test func whatHasItsOwnStartAndEndIsASample() throws {
        let changes = try pushed(
            metric: "step_count", "count",
            #"{"qty":30,"start":"2026-09-01 10:00:00 +0200","end":"2026-09-01 10:04:00 +0200"},"#
                + #"{"qty":31,"date":"2026-09-01 11:00:00 +0200","endDate":"2026-09-01 11:04:00 +0200"}"#,
            aggregation: "Hours")
        #expect(changes.rows.allSatisfy { $0.type == "HKQuantityTypeIdentifierStepCount" && $0.created == 0 })
        #expect(changes.rows.map(\.end) == ["2026-09-01T08:04:00Z", "2026-09-01T09:04:00Z"])
    }

    /// A weight at a time that isn't a full hour is a measurement, but a number of steps would be the sum of an hour.
    @Test func aMeanBesideThePeriodsIsAMeasurement() throws {
        let changes = try pushed(
            metric: "weight_body_mass", "kg",
            #"{"qty":70,"date":"2026-09-01 07:31:23 +0200"},{"qty":71,"date":"2026-09-02 07:00:00 +0200"}"#,
            aggregation: "Hours")
        #expect(
            changes.rows.map(\.type) == [
                "HKQuantityTypeIdentifierBodyMass", "HKQuantityTypeIdentifierBodyMass.statistics",
            ]
        )
    }

    @Test func sessionsAndEventsAreSamplesAndTheirSumsStatistics() throws {
        let mindful = try pushed(
            metric: "mindful_minutes", "min",
            #"{"qty":10,"startDate":"2026-09-01 07:00:00 +0200","endDate":"2026-09-01 07:10:00 +0200"}"#)
        #expect(mindful.rows[0].type == "HKCategoryTypeIdentifierMindfulSession" && mindful.rows[0].value == 0)
        let summed = try pushed(
            metric: "mindful_minutes", "hr", #"{"qty":0.5,"date":"2026-09-01 00:00:00 +0200"}"#, aggregation: "days")
        #expect(summed.rows[0].type == "HKCategoryTypeIdentifierMindfulSession.statistics")
        #expect(summed.rows[0].value == 30 && summed.rows[0].unit == "min")
        let long = try pushed(
            metric: "mindful_minutes", "min", #"{"qty":10,"date":"2026-09-01 07:00:00 +0200"}"#, aggregation: "minutes")
        #expect(
            long.rows[0].type == "HKCategoryTypeIdentifierMindfulSession" && long.rows[0].end == "2026-09-01T05:10:00Z")
        let hands = try pushed(
            metric: "handwashing", "s", #"{"qty":20,"value":"Complete","date":"2026-09-01 07:00:00 +0200"}"#,
            aggregation: "minutes")
        #expect(hands.rows[0].type == "HKCategoryTypeIdentifierHandwashingEvent" && hands.rows[0].value == 0)
        #expect(hands.rows[0].end == "2026-09-01T05:00:20Z" && hands.rows[0].body == ["value": "Complete"])
        let teeth = try pushed(
            metric: "toothbrushing", "count", #"{"qty":2,"date":"2026-09-01 00:00:00 +0200"}"#, aggregation: "Days")
        #expect(teeth.rows[0].type == "HKCategoryTypeIdentifierToothbrushingEvent.statistics")
        #expect(teeth.rows[0].value == 2 && teeth.rows[0].unit == "count")
    }

    @Test func standHoursAreCountedOrNamed() throws {
        let counted = try pushed(
            metric: "apple_stand_hour", "hr", #"{"qty":11,"date":"2026-09-01 00:00:00 +0200"}"#, aggregation: "Days")
        #expect(counted.rows[0].type == "HKCategoryTypeIdentifierAppleStandHour.statistics")
        #expect(counted.rows[0].value == 11 && counted.rows[0].unit == "count")
        let named = try pushed(
            metric: "apple_stand_hour", "count",
            #"{"value":"Stood","date":"2026-09-01 10:00:00 +0200"},{"value":"Idle","date":"2026-09-01 11:00:00 +0200"}"#,
            aggregation: "none")
        #expect(named.rows.map(\.value) == [0, 1] && named.rows[0].end == "2026-09-01T09:00:00Z")
    }

    @Test func sexualActivityIsCountedByTheDay() throws {
        let changes = try pushed(
            metric: "sexual_activity", "count",
            #"{"date":"2026-09-01 00:00:00 +0200","Unspecified":0,"Protection Used":1,"Protection Not Used":1},"#
                + #"{"date":"2026-09-02 00:00:00 +0200","Unspecified":0,"Protection Used":0,"Protection Not Used":0}"#,
            aggregation: "none")
        #expect(changes.items == 2 && changes.rows.count == 1 && changes.quarantined.isEmpty)
        #expect(changes.rows[0].type == "HKCategoryTypeIdentifierSexualActivity.statistics")
        #expect(changes.rows[0].value == 2 && changes.rows[0].body == ["protectionUsed": 1, "protectionNotUsed": 1])
        let one = try pushed(
            metric: "sexual_activity", "count", #"{"date":"2026-09-01 20:15:07 +0200","Protection Used":1}"#)
        #expect(one.rows[0].type == "HKCategoryTypeIdentifierSexualActivity")
        #expect(one.rows[0].metadata == #"{"HKSexualActivityProtectionUsed":"1"}"#)
    }
}
