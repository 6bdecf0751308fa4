import Foundation
import HealthModel
import HealthStatistics
import Testing

@Suite struct DiscreteStatisticsTests {
    static let s = Instant.microsecondsPerSecond

    /// Samples a thousand seconds apart, with these values and lengths in seconds.
    static func statistics(_ style: HealthType.Style, _ samples: [(Double, Int64)]) -> DiscreteStatistics {
        var builder = PageBuilder()
        for (index, sample) in samples.enumerated() {
            let start = Int64(index) * 1000 * s
            builder.add("t", start, start + sample.1 * s, sample.0)
        }
        let page = builder.page()
        return DiscreteStatistics(page, rows: page.rows(of: "t"), style: style, in: [0..<86_400 * s])
    }

    @Test func averagesByStyle() throws {
        let samples: [(Double, Int64)] = [(60, 30), (120, 10), (90, 0)]
        #expect(Self.statistics(.arithmetic, samples).average == 90)
        // A heart rate stands for a minute after its end.
        let sum: Double = 60 * 90 + 120 * 70 + 90 * 60
        #expect(Self.statistics(.temporallyWeighted, samples).average == sum / 220)
        // A sound level stands for as long as it was measured.
        let level = try #require(Self.statistics(.equivalentLevel, [(70, 60), (80, 30)]).average)
        #expect(abs(level - 10 * log10((2e7 + 1e8) / 3)) < 1e-12)
        let mixed = try #require(Self.statistics(.equivalentLevel, [(70, 0), (80, 30)]).average)
        #expect(abs(mixed - level) < 1e-12)
    }

    @Test func instantsWeighTheSame() throws {
        #expect(Self.statistics(.temporallyWeighted, [(60, 0), (90, 0)]).average == 75)
        let level = try #require(Self.statistics(.equivalentLevel, [(70, 0), (80, 0)]).average)
        #expect(abs(level - 77.403626894942) < 1e-9)
    }

    @Test func nothingIsNothing() {
        for style in [HealthType.Style.arithmetic, .temporallyWeighted] {
            let none = Self.statistics(style, [(.nan, 0)])
            #expect(none.count == 0 && none.average == nil && none.minimum == nil && none.mostRecent == nil)
        }
    }

    @Test func aMeanStaysAmongItsSamples() {
        let value = 0.1 + 0.2
        for style in [HealthType.Style.arithmetic, .temporallyWeighted] {
            #expect(Self.statistics(style, Array(repeating: (value, 7), count: 80)).average == value)
        }
    }

    @Test func samplesBelongToTheBucketOfTheirStart() {
        var builder = PageBuilder()
        builder.add("t", 5 * Self.s, 25 * Self.s, 1)
        builder.add("t", 10 * Self.s, 10 * Self.s, 2)
        builder.add("t", 39 * Self.s, 50 * Self.s, 3)
        let page = builder.page()
        let buckets = (0..<4).map { Int64($0) * 10 * Self.s..<Int64($0 + 1) * 10 * Self.s }
        let found = DiscreteStatistics.buckets(page, rows: page.rows(of: "t"), style: .arithmetic, in: buckets)
        #expect(found.map(\.average) == [1, 2, nil, 3])
        let day = DiscreteStatistics(
            page, rows: page.rows(of: "t"), style: .arithmetic, in: [8 * Self.s..<100 * Self.s])
        #expect(day.count == 2 && day.mostRecent == 3 && day.minimum == 2 && day.maximum == 3)
    }

    @Test func sumsAreCompensated() {
        var sum = CompensatedSum()
        for term in [1, 1e100, 1, -1e100] { sum.add(term) }
        #expect(sum.value == 2)
    }
}
