import DeliveryKit
import HealthModel
import TestSupport
import Testing

@Suite struct DelayHistogramTests {
    private static let now = Instant(seconds: 1_750_000_000)

    private func histogram(of delays: [Double]) -> DelayHistogram {
        var histogram = DelayHistogram()
        for delay in delays { histogram.add(end: Self.now - .microseconds(Int64(delay * 1e6)), acceptedAt: Self.now) }
        return histogram
    }

    @Test func reportsMedianAndTailToATenth() throws {
        let delays = (1...1000).map { Double($0) * 3 }
        let median = try #require(histogram(of: delays).quantile(0.5))
        let tail = try #require(histogram(of: delays).quantile(0.95))
        #expect(abs(median / 1500 - 1) < 0.1 && abs(tail / 2850 - 1) < 0.1)
    }

    @Test func historyAndTheFutureAreNoDelays() {
        #expect(histogram(of: [48 * 3600 + 1, 86_400 * 365, -5]).count == 0)
        #expect(histogram(of: []).quantile(0.5) == nil)
        #expect(histogram(of: [0, 48 * 3600]).count == 2)
    }

    @Test func oldDelaysFade() throws {
        var histogram = histogram(of: Array(repeating: 10_000, count: 50_001))
        histogram.fade()
        #expect(histogram.count == 25_000)
        for _ in 0..<30_000 { histogram.add(end: Self.now - .seconds(5), acceptedAt: Self.now) }
        #expect(try #require(histogram.quantile(0.5)) < 6)
    }
}

@Suite struct DelayBucketsTests {
    @Test func eachDelayIsInTheFirstBucketThatHoldsIt() {
        var buckets = DelayBuckets()
        let now = Instant(seconds: 1_000_000)
        for seconds: Int64 in [0, 1, 2, 61, 900_000, -5] {
            buckets.add(end: now - .seconds(seconds), acceptedAt: now)
        }
        #expect(buckets.counts == [2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1])
        #expect(buckets.sum == 900_064)
    }
}
