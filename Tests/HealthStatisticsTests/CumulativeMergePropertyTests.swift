import HealthModel
import HealthStatistics
import Testing

/// Properties of every merge, whatever the samples. The store ensures that a sample imported twice is stored once
/// (`IdentityTests.equalRecordsOfTwoSessionsAreOne`, `OrderTests`). For a merge, two equal samples are simply two
/// samples.
@Suite struct CumulativeMergePropertyTests {
    static let cases = 0..<UInt64(2000)

    static func close(_ a: Double?, _ b: Double?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return abs(a - b) <= 1e-9 * max(1, abs(b))
    }

    @Test func equalsTheGrid() {
        for seed in Self.cases {
            var samples = RandomSamples(seed: seed)
            let buckets = samples.buckets()
            let grid = GridMerge(
                rows: samples.builder.rows, sources: samples.sources, isChosen: samples.isChosen,
                count: RandomSamples.cells, window: samples.window
            ).sums(buckets)
            let merge = samples.merge()
            let ranges = RandomSamples.instants(buckets)
            for (found, expected) in zip(merge.sums(in: ranges), grid) {
                #expect(Self.close(found, expected), "seed \(seed)")
            }
            let counting = grid.compactMap { $0 }
            let expected = counting.isEmpty ? nil : counting.reduce(0, +)
            #expect(Self.close(merge.total(in: ranges), expected), "seed \(seed)")
        }
    }

    /// The order of arrival doesn't change a single bit.
    @Test func arrivalDoesNotMatter() {
        for seed in Self.cases {
            var samples = RandomSamples(seed: seed)
            let ranges = RandomSamples.instants(samples.buckets())
            let sums = samples.merge().sums(in: ranges)
            samples.builder.rows.shuffle(using: &samples.random)
            #expect(samples.merge(samples.builder.page(inOrder: false)).sums(in: ranges) == sums, "seed \(seed)")
        }
    }

    /// A slice is sent in pages, each of which has its own lists of types and sources.
    @Test func pagesDoNotMatter() {
        for seed in Self.cases {
            var samples = RandomSamples(seed: seed)
            let ranges = RandomSamples.instants(samples.buckets())
            let sums = samples.merge().sums(in: ranges)
            let rows = samples.builder.rows.sorted { ($0.start, $0.id) < ($1.start, $1.id) }
            let size = Int.random(in: 1...5, using: &samples.random)
            var page = SamplePage()
            for first in stride(from: 0, to: rows.count, by: size) {
                samples.builder.rows = Array(rows[first..<min(first + size, rows.count)])
                page.append(samples.builder.page())
            }
            #expect(samples.merge(page).sums(in: ranges) == sums, "seed \(seed)")
        }
    }

    @Test func splittingASampleInProportionChangesNothing() {
        var split = 0
        for seed in Self.cases {
            var samples = RandomSamples(seed: seed)
            let ranges = RandomSamples.instants(samples.buckets()) + RandomSamples.whole
            let before = ranges.map { samples.merge().total(in: [$0]) }
            let long = samples.builder.rows.indices.filter {
                let length = samples.builder.rows[$0].end - samples.builder.rows[$0].start
                return length > 0 && length < 240 * RandomSamples.cell
            }
            guard let index = long.randomElement(using: &samples.random) else { continue }
            let row = samples.builder.rows.remove(at: index)
            // The sample is cut at a random microsecond.
            let cut = Int64.random(in: row.start + 1..<row.end, using: &samples.random)
            let first = row.value * (Double(cut - row.start) / Double(row.end - row.start))
            samples.builder.add(row.type, row.start, cut, first, source: row.source, flags: row.flags)
            samples.builder.add(row.type, cut, row.end, row.value - first, source: row.source, flags: row.flags)
            for (range, total) in zip(ranges, before) {
                #expect(Self.close(samples.merge().total(in: [range]), total), "seed \(seed)")
            }
            split += 1
        }
        #expect(split > 1000)
    }

    /// Wherever tombstones occur, they change nothing, not even the last bit.
    @Test func addingAndDeletingRestoresTheTotal() {
        for seed in Self.cases {
            var samples = RandomSamples(seed: seed)
            let ranges = RandomSamples.instants(samples.buckets()) + RandomSamples.whole
            let before = ranges.map { samples.merge().total(in: [$0]) }
            let start = Int64.random(in: 0..<280, using: &samples.random)
            samples.add(start, start + Int64.random(in: 0...90, using: &samples.random))
            samples.builder.rows[samples.builder.rows.count - 1].flags.insert(.deleted)
            #expect(ranges.map { samples.merge().total(in: [$0]) } == before, "seed \(seed)")
        }
    }

    /// However a day is divided, its parts add up to the whole day, and never to more than the sum of all samples.
    @Test func bucketsAddUpAndNothingCountsTwice() {
        for seed in Self.cases {
            var samples = RandomSamples(seed: seed)
            let merge = samples.merge()
            let total = merge.total(in: RandomSamples.whole)
            let whole = RandomSamples.whole[0]
            let cuts = Set((0..<7).map { _ in Int64.random(in: 1..<whole.upperBound, using: &samples.random) }).sorted()
            let edges = [0] + cuts + [whole.upperBound]
            let parts = merge.sums(in: zip(edges, edges.dropFirst()).map { $0..<$1 }).compactMap { $0 }
            #expect(Self.close(parts.isEmpty ? nil : parts.reduce(0, +), total), "seed \(seed)")
            let all = samples.builder.rows.reduce(0) { $0 + $1.value }
            #expect((total ?? 0) <= all * (1 + 1e-9), "seed \(seed)")
        }
    }

    @Test func totalsExplainThemselves() {
        for seed in Self.cases {
            var samples = RandomSamples(seed: seed)
            let merge = samples.merge()
            let ranges = RandomSamples.instants(samples.buckets())
            let intervals = merge.intervals(in: ranges)
            let explained = intervals.isEmpty ? nil : intervals.reduce(0) { $0 + $1.amount }
            #expect(Self.close(explained, merge.total(in: ranges)), "seed \(seed)")
            // Sums lie over finer samples.
            let spans = intervals.filter { $0.start < $0.end && !$0.counted.hasSuffix("(sum)") }
            for (a, b) in zip(spans, spans.dropFirst()) { #expect(a.end <= b.start) }
        }
    }
}
