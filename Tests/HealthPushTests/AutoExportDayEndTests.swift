import HealthModel
import HealthPush
import Testing

/// The clocks of Berlin are put forward on 2026-03-29, and back on 2026-10-25.
struct AutoExportDayEndTests {
    private func ends(_ dates: [String], _ aggregation: String? = nil) throws -> [String] {
        try pushed(
            metric: "step_count", "count",
            dates.map { #"{"qty":10,"date":"\#($0)","source":"Watch"}"# }.joined(separator: ","),
            aggregation: aggregation
        ).rows.map(\.end)
    }

    @Test(arguments: [nil, "Days"]) func theNextEntryEndsADay(aggregation: String?) throws {
        #expect(
            try ends(
                [
                    "2026-03-29 00:00:00 +0100", "2026-03-30 00:00:00 +0200", "2026-10-25 00:00:00 +0200",
                    "2026-10-26 00:00:00 +0100",
                ],
                aggregation)
                == ["2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z", "2026-10-25T23:00:00Z", "2026-10-26T23:00:00Z"])
        // In any order.
        #expect(
            try ends(["2026-03-30 00:00:00 +0200", "2026-03-29 00:00:00 +0100"], aggregation)
                == ["2026-03-30T22:00:00Z", "2026-03-29T22:00:00Z"])
    }

    @Test func theNextEntryEndsAWeekAndAMonth() throws {
        #expect(
            try ends(["2026-03-23 00:00:00 +0100", "2026-03-30 00:00:00 +0200"], "Weeks").first
                == "2026-03-29T22:00:00Z")
        #expect(
            try ends(["2026-03-01 00:00:00 +0100", "2026-04-01 00:00:00 +0200"], "Months").first
                == "2026-03-31T22:00:00Z")
    }

    @Test func withoutANextEntryTheDayHas24HoursUntilTheZoneIsKnown() throws {
        var changes = try pushed(
            metric: "step_count", "count",
            #"{"qty":10,"date":"2026-03-29 00:00:00 +0100"},{"qty":10,"date":"2026-04-02 00:00:00 +0200"}"#)
        #expect(changes.rows.map(\.end) == ["2026-03-29T23:00:00Z", "2026-04-02T22:00:00Z"])
        changes.records.endDays(on: try ZoneTimeline(zone: "Europe/Berlin"))
        #expect(changes.rows.map(\.end) == ["2026-03-29T22:00:00Z", "2026-04-02T22:00:00Z"])
    }

    @Test func onlySumsOfThePersonsDaysEndWithThem() throws {
        let berlin = try ZoneTimeline(zone: "Europe/Berlin")
        for (entries, aggregation) in [
            // The day of another zone, an hour, and a sample.
            (#"{"qty":10,"date":"2026-03-29 00:00:00 +0900"}"#, "Days"),
            (#"{"qty":10,"date":"2026-03-29 00:00:00 +0100"}"#, "Hours"),
            (#"{"qty":10,"start":"2026-03-29 00:00:00 +0100","end":"2026-03-30 00:00:00 +0100"}"#, "none"),
        ] {
            var changes = try pushed(metric: "step_count", "count", entries, aggregation: aggregation)
            let before = changes.rows
            changes.records.endDays(on: berlin)
            #expect(changes.rows == before && before.count == 1)
        }
        var weeks = try pushed(
            metric: "step_count", "count", #"{"qty":10,"date":"2026-10-19 00:00:00 +0200"}"#, aggregation: "Weeks")
        weeks.records.endDays(on: berlin)
        #expect(weeks.rows.map(\.end) == ["2026-10-25T23:00:00Z"])
    }
}
