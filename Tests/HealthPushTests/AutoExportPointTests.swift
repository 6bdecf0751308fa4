import HealthModel
import HealthPush
import Testing

/// Sums with only a date: HealthKit has them over a time.
struct AutoExportPointTests {
    private func points(_ metric: String, _ units: String = "count", _ points: [(String, String)]) throws -> [PushedRow]
    {
        try pushed(
            metric: metric, units,
            points.map { #"{"qty":20,"date":"2026-09-01 \#($0.0) +0200","source":"\#($0.1)"}"# }.joined(separator: ","),
            aggregation: "none"
        ).rows
    }

    @Test func aSumLastsUntilItsSourcesNextOne() throws {
        let rows = try points(
            "step_count", "count",
            [("10:00:03", "Watch"), ("10:00:05", "iPhone"), ("10:04:03", "Watch"), ("10:30:00", "Watch")])
        #expect(rows.allSatisfy { $0.type == "HKQuantityTypeIdentifierStepCount.statistics" })
        #expect(rows.map(\.start).map { $0.suffix(9) } == ["08:00:03Z", "08:00:05Z", "08:04:03Z", "08:30:00Z"])
        #expect(rows.map(\.end).map { $0.suffix(9) } == ["08:04:03Z", "08:10:05Z", "08:14:03Z", "08:40:00Z"])
    }

    @Test func theOrderOfEntriesDoesNotMatter() throws {
        let times = [("10:04:03", "Watch"), ("10:00:05", "iPhone"), ("10:00:03", "Watch")]
        let rows = try points("active_energy", "kcal", times)
        #expect(
            rows.map(\.placeless).sorted()
                == (try points("active_energy", "kcal", times.reversed())).map(\.placeless).sorted())
        #expect(rows.map(\.end).map { $0.suffix(9) } == ["08:14:03Z", "08:10:05Z", "08:04:03Z"])
    }

    @Test(arguments: [
        ("dietary_water", "mL"), ("insulin_delivery", "IU"), ("heart_rate", "bpm"), ("inhaler_usage", "count"),
    ])
    func whatPeopleEnterOrReadOffHasAnInstant(metric: String, units: String) throws {
        let rows = try points(metric, units, [("10:00:03", "App")])
        #expect(rows.map(\.start) == rows.map(\.end) && HealthType.base(ofStatistics: rows[0].type) == nil)
    }
}
