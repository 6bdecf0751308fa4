import HealthModel
import HealthPush
import Testing

/// A request says what of it was taken as statistics, and why.
struct TakenStatisticsTests {
    private func taken(_ changes: PushedChanges) -> [String] {
        let stored = changes.taken.map(\.count).reduce(0, +)
        #expect(stored == Int64(changes.rows.count { HealthType.base(ofStatistics: $0.type) != nil }))
        return changes.taken.map { "\(TakenStatisticsTests.short($0.type)) \($0.count): \($0.reason)" }
    }

    private static func short(_ type: String) -> String { String(type.split(separator: "Identifier").last ?? "") }

    private func steps(_ times: [String], aggregation: String? = nil) throws -> [String] {
        let entries = times.map { #"{"qty":10,"date":"2026-09-01 \#($0) +0200"}"# }
        return taken(
            try pushed(metric: "step_count", "count", entries.joined(separator: ","), aggregation: aggregation))
    }

    @Test func theDatesOrTheHeaderAreTheReason() throws {
        #expect(try steps(["00:00:00"]) == ["StepCount 1: all of the metric's dates are at midnight"])
        #expect(try steps(["00:00:00", "13:00:00"]) == ["StepCount 2: all of the metric's dates are on whole hours"])
        #expect(
            try steps(["13:00:00", "13:05:00", "13:06:00"])
                == ["StepCount 3: all of the metric's dates are on whole minutes"])
        #expect(
            try steps(["13:05:00"], aggregation: "Hourly")
                == ["StepCount 1: the header 'automation-aggregation' says hours"])
        #expect(
            try steps(["13:05:00"], aggregation: "Default")
                == ["StepCount 1: all of the metric's dates are on whole minutes"])
        #expect(
            try steps(["13:05:01"], aggregation: "none")
                == ["StepCount 1: it is measured over time, but has only a date"])
    }

    @Test func differingMinimumAndMaximumAreAReason() throws {
        let beat = #"{"Min":61,"Avg":61,"Max":61,"date":"2026-09-01 10:00:07 +0200"}"#
        let mean = #"{"Min":61,"Avg":62,"Max":63,"date":"2026-09-01 10:00:09 +0200"}"#
        let changes = try pushed(metric: "heart_rate", "count/min", beat + "," + mean)
        #expect(taken(changes) == ["HeartRate 1: its minimum and maximum differ"])
    }

    @Test func eachMetricHasItsReason() throws {
        let changes = try pushed(
            #""metrics":[{"name":"sleep_analysis","units":"hr","data":[{"sleepStart":"2026-09-01 23:00:00 +0200","#
                + #""sleepEnd":"2026-09-02 07:00:00 +0200","asleep":7}]},"#
                + #"{"name":"apple_stand_hour","units":"count","data":[{"qty":1,"date":"2026-09-01 10:20:30 +0200"}]},"#
                + #"{"name":"step_count","units":"count","data":[{"qty":5,"date":"2026-09-01 10:00:00 +0200"},7]}]"#)
        #expect(
            taken(changes) == [
                "AppleStandHour 1: it is a count of events", "SleepAnalysis 1: it is a whole night",
                "StepCount 1: all of the metric's dates are on whole hours",
            ])
    }

    @Test func samplesAreNotReported() throws {
        let changes = try pushed(
            metric: "step_count", "count",
            #"{"qty":5,"start":"2026-09-01 10:00:00 +0200","end":"2026-09-01 10:05:00 +0200"}"#)
        #expect(changes.rows.count == 1 && changes.taken.isEmpty)
    }
}
