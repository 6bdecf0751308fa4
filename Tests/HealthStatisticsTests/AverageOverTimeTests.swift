import Foundation
import HealthModel
import HealthStatistics
import TestSupport
import Testing

/// No heart rate counts for more than the time it stands for.
@Suite struct AverageOverTimeTests {
    private static let type = "HKQuantityTypeIdentifierHeartRate"
    private static let second = Instant.microsecondsPerSecond
    /// The first by default is the watch.
    private static let names = ["Watch", "Alpha", "Beta"]
    private static let day = 86_400

    private typealias Reading = GridMean.Reading

    private static func page(_ readings: [Reading]) -> SamplePage {
        var builder = PageBuilder()
        for one in readings {
            builder.add(
                type, Int64(one.start) * second, Int64(one.end) * second, one.value, source: names[one.source],
                flags: one.isStatistic ? .statistics : [])
        }
        return builder.page()
    }

    private static func explained(_ readings: [Reading], _ windows: [Range<Int>]) -> DiscreteExplanation {
        let page = page(readings)
        return DiscreteExplanation(
            page, rows: page.rows(of: type), style: .temporallyWeighted, order: SourceOrder(),
            in: windows.map { Int64($0.lowerBound) * second..<Int64($0.upperBound) * second })
    }

    private static func average(_ readings: [Reading], _ windows: [Range<Int>] = [0..<day]) -> Double? {
        let page = page(readings)
        return DiscreteStatistics(
            page, rows: page.rows(of: type), style: .temporallyWeighted,
            in: windows.map { Int64($0.lowerBound) * second..<Int64($0.upperBound) * second }
        ).average
    }

    private static func mean(_ parts: [(value: Double, time: Double)]) -> Double {
        parts.reduce(0) { $0 + $1.value * $1.time } / parts.reduce(0) { $0 + $1.time }
    }

    private static func instants(_ values: [Double], every pace: Int, from start: Int = 0, source: Int = 0) -> [Reading]
    {
        values.enumerated().map { place, value in
            let at = start + place * pace
            return Reading(start: at, end: at, value: value, source: source)
        }
    }

    /// As messy as sources are: equal times, overlaps, statistics, sometimes samples of hours.
    private static func readings(_ random: inout SeededRandom) -> [Reading] {
        let step = [1, 5, 30, 300].randomElement(using: &random) ?? 1
        let longest = [0, 10, 90, 9000].randomElement(using: &random) ?? 0
        return (0..<Int.random(in: 1...40, using: &random)).map { _ in
            let start = Int.random(in: 0..<60, using: &random) * step
            let isLong = Int.random(in: 0..<3, using: &random) == 0
            return Reading(
                start: start, end: start + (isLong ? Int.random(in: 0...longest, using: &random) : 0),
                value: Double(Int.random(in: 60...64, using: &random)), source: Int.random(in: 0..<3, using: &random),
                isStatistic: isLong && Bool.random(using: &random))
        }
    }

    @Test func oneSampleDoesNotOutweighADay() throws {
        let day = Self.instants(Array(repeating: 72, count: 300), every: 280)
        let second = Reading(start: 40_100, end: 40_101, value: 171, source: 1)
        #expect(Self.average(day + [second]) == Self.mean([(72, 300 * 60), (171, 61)]))
        // From the watch itself, half a minute after one of its readings and before another.
        let own = [40_070, 40_100].map { Reading(start: $0, end: $0 + 1, value: $0 == 40_070 ? 171 : 72, source: 0) }
        #expect(Self.average(day + own) == Self.mean([(72, 299 * 60 + 30 + 61), (171, 30)]))
    }

    @Test func whereverOneOddSampleIsItsWeightIsBounded() throws {
        var random = SeededRandom(seed: 5)
        for _ in 0..<200 {
            let length = Int.random(in: 0...120, using: &random)
            let start = Int.random(in: 0..<Self.day, using: &random)
            let odd = Reading(start: start, end: start + length, value: 171, source: .random(in: 0..<3, using: &random))
            let mean = try #require(
                Self.average(Self.instants(Array(repeating: 72, count: 300), every: 287) + [odd]))
            // The others lose at most what the odd one covers.
            let most = Double(length + 60)
            #expect(mean >= 72 && mean <= (72 * (18_000 - most) + 171 * most) / 18_000)
        }
    }

    @Test func evenlyPacedInstantsKeepTheirPlainMean() throws {
        var random = SeededRandom(seed: 6)
        for pace in [1, 2, 5, 13, 59, 60, 61, 240, 300, 3000] {
            let count = min(Self.day / pace - 1, 500)
            let values = (0..<count).map { _ in Double.random(in: 40..<190, using: &random) }
            let plain = values.reduce(0, +) / Double(count)
            for count in [1, 2, count] {
                let mean = try #require(Self.average(Self.instants(Array(values[..<count]), every: pace)))
                let plain = values[..<count].reduce(0, +) / Double(count)
                #expect(abs(mean - plain) < 1e-11, "every \(pace) s")
            }
            // Also when they follow each other without a gap.
            let touching = Self.instants(values, every: pace).map {
                Reading(start: $0.start, end: $0.start + pace, value: $0.value, source: 0)
            }
            #expect(abs(try #require(Self.average(touching)) - plain) < 1e-11, "for \(pace) s")
        }
    }

    @Test func equalNeighboursMayBecomeOne() {
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let all = (0..<3).flatMap { source in
                var at = 0
                return (0..<Int.random(in: 0...30, using: &random)).map { _ in
                    at += Int.random(in: 1...(Bool.random(using: &random) ? 20 : 90), using: &random)
                    let start = at
                    if Int.random(in: 0..<4, using: &random) == 0 { at += 10 }
                    let value = Double(Int.random(in: 60...61, using: &random))
                    return Reading(start: start, end: at, value: value, source: source)
                }
            }
            var joined: [Reading] = []
            for one in all {
                if let last = joined.last, last.source == one.source, last.value == one.value,
                    one.start - last.end <= 60, one.end - last.start < 3600, Int.random(in: 0..<4, using: &random) > 0
                {
                    joined[joined.count - 1].end = one.end
                } else {
                    joined.append(one)
                }
            }
            let windows = [0..<700, 700..<3000]
            // Only a sample over the windows' edge is cut by it.
            guard !joined.contains(where: { $0.start < 700 && $0.end >= 700 }) else { continue }
            #expect(Self.average(joined, windows) == Self.average(all, windows), "seed \(seed)")
        }
    }

    @Test func equalsTheGrid() throws {
        for seed in 0..<600 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let readings = Self.readings(&random)
            let grid = GridMean(readings, window: 20_000)
            let mean = try #require(Self.average(readings, [0..<20_000]))
            #expect(abs(mean - (grid.average ?? 0)) < 1e-9, "seed \(seed)")
            let values = readings.map(\.value)
            #expect(mean >= values.min() ?? 0 && mean <= values.max() ?? 0)
            // The order of arrival changes nothing.
            #expect(Self.average(readings.shuffled(using: &random), [0..<20_000]) == mean, "seed \(seed)")
        }
    }

    /// The whole is the parts, each by the time that counts in it.
    @Test func aSplitWindowIsTheSumOfItsParts() throws {
        func recombined(_ parts: [DiscreteExplanation]) -> Double {
            let time = parts.reduce(0) { $0 + $1.time.seconds }
            return parts.reduce(0) { $0 + ($1.all.average ?? 0) * $1.time.seconds } / time
        }
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let readings = Self.readings(&random)
            let cut = Int.random(in: 1..<20_000, using: &random)
            let windows = [0..<cut, cut..<20_000]
            let parts = windows.map { Self.explained(readings, [$0]) }
            let mean = try #require(Self.average(readings, windows))
            #expect(abs(recombined(parts) - mean) < 1e-9, "seed \(seed)")
            // With readings over a minute apart, where none stands at the cut, nothing shows that there was one.
            let sparse = (0..<3).flatMap { source in
                (0..<50).map { place in
                    let start = place * 400 + Int.random(in: 0..<200, using: &random)
                    let end = start + Int.random(in: 0..<100, using: &random)
                    return Reading(start: start, end: end, value: Double(60 + place % 7), source: source)
                }
            }
            let halves = [0..<10_000, 10_000..<20_000].map { Self.explained(sparse, [$0]) }
            let whole = try #require(Self.average(sparse, [0..<20_000]))
            #expect(abs(recombined(halves) - whole) < 1e-9, "seed \(seed)")
        }
    }

    @Test func theWindowCutsWhatReachesBeyondIt() {
        // Only the last ten seconds of the second are within.
        let readings = [
            Reading(start: 100, end: 100, value: 60, source: 0), Reading(start: 990, end: 3000, value: 90, source: 0),
        ]
        #expect(Self.average(readings, [0..<1000]) == Self.mean([(60, 60), (90, 10)]))
        #expect(Self.average(readings, [1000..<2000]) == nil)
    }

    @Test func statisticsStandForTheirSpan() {
        let day = Self.instants(Array(repeating: 80, count: 288), every: 300)
        let hours = [36_000, 39_600].map {
            Reading(start: $0, end: $0 + 3600, value: 60, source: 1, isStatistic: true)
        }
        // The watch has one minute in five.
        #expect(Self.average(day + hours) == Self.mean([(80, 288), (60, 2 * 48)]))
        // Where the watch has nothing, they have all of it.
        let rest = day.filter { $0.start < 36_000 || $0.start >= 43_200 }
        #expect(Self.average(rest + hours) == Self.mean([(80, 264), (60, 120)]))
    }

    /// A day's mean of one app beside readings every five minutes of another.
    @Test func whatLastsForHoursFillsOnlyGapsOfHours() {
        let day = Self.instants(Array(repeating: 80, count: 288), every: 300)
        for isStatistic in [true, false] {
            for source in [0, 1] {
                let mean = Reading(start: 0, end: Self.day, value: 60, source: source, isStatistic: isStatistic)
                let other = Self.instants(Array(repeating: 80, count: 288), every: 300, source: 2)
                #expect(Self.average(other + [mean]) == 80)
            }
            let mean = Reading(start: 0, end: Self.day, value: 60, source: 1, isStatistic: isStatistic)
            // Readings from noon on: the morning is the app's.
            let afternoon = day.filter { $0.start >= 43_200 }
            #expect(Self.average(afternoon + [mean]) == Self.mean([(80, 144), (60, 720)]))
            #expect(Self.average([mean]) == 60)
            // A source that has readings too counts by its order, even near midnight.
            let evening = [80_000, 84_000].map {
                Reading(start: $0, end: $0 == 84_000 ? 88_000 : $0, value: 60, source: 0)
            }
            let last = Reading(start: 80_000, end: 80_000, value: 80, source: 1)
            #expect(Self.average(evening + [last]) == 60)
        }
    }

    @Test func soundLevelsCountForTheirDuration() throws {
        var builder = PageBuilder()
        builder.add("t", 0, 600 * Self.second, 60)
        builder.add("t", 1000 * Self.second, 1001 * Self.second, 100)
        // The same minutes, measured by something else too.
        builder.add("t", 0, 600 * Self.second, 90, source: "Other")
        let page = builder.page()
        let found = DiscreteStatistics(
            page, rows: page.rows(of: "t"), style: .equivalentLevel, in: [0..<86_400 * Self.second]
        ).average
        #expect(abs(try #require(found) - 10 * log10(Self.mean([(1e6, 600), (1e10, 1)]))) < 1e-9)
    }
}
