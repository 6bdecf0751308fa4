import HealthModel
import Testing

/// Sums that an app computed count only where there are no samples.
struct StatisticsCountTests {
    private let steps = "HKQuantityTypeIdentifierStepCount"
    private let day = LocalDay(number: 20_000)
    private let dayStart: Int64 = 20_000 * 86_400

    private struct Row {
        var type: String
        var from: Int64
        var to: Int64
        var value: Double
        var source = "Watch"
    }

    /// The rows in the day's input: each value, and whether it is a statistic. The rows' times are given in minutes
    /// since the start of the day.
    private func counted(_ rows: [Row]) throws -> [(value: Double, isStatistic: Bool)] {
        var page = SamplePage()
        for (index, row) in rows.enumerated() {
            var one = SamplePage()
            one.types = [row.type]
            one.origins = [Origin(sourceName: row.source)]
            one.ids = [SampleID(high: UInt64(index), low: 1)]
            one.sequence = [Int64(index)]
            one.type = [0]
            one.start = [(dayStart + row.from * 60) * 1_000_000]
            one.end = [(dayStart + row.to * 60) * 1_000_000]
            one.value = [row.value]
            one.origin = [0]
            one.flags = [[]]
            page.append(one)
        }
        let input = DayInput(
            user: "me", day: day, window: .localDay, zones: try ZoneTimeline(zone: "UTC"), cutting: page)
        #expect(input.samples.type.allSatisfy { input.samples.types[Int($0)] == steps })
        return input.samples.ids.indices.map {
            (input.samples.value[$0], input.samples.flags[$0].contains(.statistics))
        }
    }

    private func statistic(_ from: Int64, _ to: Int64, _ value: Double, _ source: String = "Watch") -> Row {
        Row(type: HealthType.statistics(of: steps), from: from, to: to, value: value, source: source)
    }

    @Test func aStatisticCountsWhereNothingElseDoes() throws {
        let rows = try counted([statistic(0, 60, 500)])
        #expect(rows.map(\.value) == [500] && rows.map(\.isStatistic) == [true])
    }

    @Test func samplesOfItsSourceGoBefore() throws {
        let sample = Row(type: steps, from: 10, to: 20, value: 120)
        #expect(try counted([sample, statistic(0, 60, 500)]).map(\.value) == [120])
        #expect(try counted([statistic(0, 60, 500), sample]).map(\.value) == [120])
        #expect(try counted([sample, statistic(60, 120, 500)]).map(\.value) == [120, 500])
    }

    @Test func anotherSourcesSamplesLeaveIt() throws {
        let sample = Row(type: steps, from: 10, to: 20, value: 120, source: "iPhone")
        #expect(try counted([sample, statistic(0, 60, 500)]).map(\.value) == [120, 500])
        #expect(try counted([sample, statistic(0, 60, 500, "Watch|iPhone")]).map(\.value) == [120])
        #expect(try counted([sample, statistic(0, 60, 500, "")]).map(\.value) == [120])
        #expect(try counted([sample, statistic(0, 60, 500, Origin.autoExportSource)]).map(\.value) == [120])
    }

    @Test func hoursGoBeforeTheirDay() throws {
        let rows = try counted([statistic(0, 1440, 9000), statistic(60, 120, 500), statistic(120, 180, 700)])
        #expect(rows.map(\.value) == [500, 700])
    }

    /// Apps that print no zone give a day of 23 hours 24.
    @Test func theNextDaysSumEndsADay() throws {
        let (hour, day): (Int64, Int64) = (60, 24 * 60)
        let rows = try counted([statistic(-day + hour, hour, 9000), statistic(0, day, 5000)])
        #expect(rows.map(\.value).contains(5000))
        // That of another source doesn't, and an hour isn't a day.
        let others = try counted([
            statistic(-day + hour, hour, 9000), statistic(0, day, 5000, "iPhone"), statistic(0, hour, 100),
        ])
        #expect(others.map(\.value).sorted() == [100, 5000])
        // Sums that overlap by more are of the same time.
        #expect(try counted([statistic(-12 * hour, 12 * hour, 9000), statistic(0, day, 5000)]).map(\.value) == [9000])
    }
}
