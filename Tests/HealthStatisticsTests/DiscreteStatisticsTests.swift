import Foundation
import HealthModel
import HealthStatistics
import Testing

@Suite struct DiscreteStatisticsTests {
    static let s = Instant.microsecondsPerSecond

    static func statistics(_ style: HealthType.Style, _ samples: [(Double, Int64)]) -> DiscreteStatistics {
        var statistics = DiscreteStatistics(style: style)
        for (index, sample) in samples.enumerated() {
            let start = Int64(index) * 1000 * s
            statistics.add(sample.0, start: start, end: start + sample.1 * s)
        }
        return statistics
    }

    @Test func averagesByStyle() throws {
        let samples: [(Double, Int64)] = [(60, 30), (120, 10), (90, 0)]
        #expect(Self.statistics(.arithmetic, samples).average == 90)
        #expect(Self.statistics(.temporallyWeighted, samples).average == 75)
        let level = try #require(Self.statistics(.equivalentLevel, [(70, 60), (80, 60)]).average)
        #expect(abs(level - 10 * log10((1e7 + 1e8) / 2)) < 1e-12)
    }

    @Test func instantsWeighTheSame() throws {
        #expect(Self.statistics(.temporallyWeighted, [(60, 0), (90, 0)]).average == 75)
        let level = try #require(Self.statistics(.equivalentLevel, [(70, 0), (80, 0)]).average)
        #expect(abs(level - 77.403626894942) < 1e-9)
    }

    @Test func nothingIsNothing() {
        let none = Self.statistics(.arithmetic, [(.nan, 0)])
        #expect(none.count == 0 && none.average == nil && none.minimum == nil && none.mostRecent == nil)
    }

    @Test func aMeanStaysAmongItsSamples() {
        let value = 0.1 + 0.2
        #expect(Self.statistics(.temporallyWeighted, Array(repeating: (value, 7), count: 1001)).average == value)
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
