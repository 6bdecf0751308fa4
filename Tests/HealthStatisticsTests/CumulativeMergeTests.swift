import HealthModel
import HealthStatistics
import Testing

@Suite struct CumulativeMergeTests {
    static let type = "HKQuantityTypeIdentifierStepCount"
    static let s = Instant.second
    static let sources = ["Watch", "iPhone", "Alpha", "Beta"]

    static func merge(_ builder: PageBuilder, order: SourceOrder = SourceOrder(), inOrder: Bool = true)
        -> CumulativeMerge
    {
        let page = builder.page(inOrder: inOrder)
        return CumulativeMerge(page, rows: page.rows(of: type), order: order)
    }

    static func random(seed: UInt64) -> PageBuilder {
        var random = SeededRandom(seed: seed)
        var builder = PageBuilder()
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            let start = Int64.random(in: 0..<280, using: &random)
            let length = Bool.random(using: &random) ? 0 : Int64.random(in: 0...90, using: &random)
            builder.add(
                type, start * s, (start + length) * s, Double.random(in: 0...100, using: &random),
                source: sources.randomElement(using: &random) ?? sources[0])
        }
        return builder
    }

    static func close(_ a: Double?, _ b: Double?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return abs(a - b) <= 1e-9 * max(1, abs(b))
    }

    @Test func theFirstSourceCountsAndTheOthersFillIn() {
        var builder = PageBuilder()
        builder.add(Self.type, 0, 600 * Self.s, 600, source: "Watch")
        builder.add(Self.type, 300 * Self.s, 900 * Self.s, 1200, source: "iPhone")
        let merge = Self.merge(builder)
        // The phone counts for its last 300 of 600 seconds.
        #expect(merge.total(in: [0..<1000 * Self.s]) == 1200)
        #expect(
            merge.sums(in: [0..<450 * Self.s, 450 * Self.s..<900 * Self.s, 900 * Self.s..<1000 * Self.s]) == [
                450, 750, nil,
            ])
    }

    @Test func overlapsOfOneSourceAllCount() {
        var builder = PageBuilder()
        builder.add(Self.type, 0, 10 * Self.s, 5)
        builder.add(Self.type, 0, 10 * Self.s, 7)
        #expect(Self.merge(builder).total(in: [0..<10 * Self.s]) == 12)
    }

    @Test func instantsCountWholeUnlessCoveredFromAbove() {
        var builder = PageBuilder()
        builder.add(Self.type, 0, 10 * Self.s, 5, source: "iPhone")
        builder.add(Self.type, 5 * Self.s, 5 * Self.s, 100, source: "Alpha")
        builder.add(Self.type, 5 * Self.s, 5 * Self.s, 30, source: "Watch")
        builder.add(Self.type, 10 * Self.s, 10 * Self.s, 1, source: "Alpha")
        #expect(Self.merge(builder).total(in: [0..<20 * Self.s]) == 36)
    }

    @Test func entriesByHandComeFirst() {
        var builder = PageBuilder()
        builder.add(Self.type, 0, 10 * Self.s, 5, source: "Health", flags: .userEntered)
        builder.add(Self.type, 0, 10 * Self.s, 50, source: "Watch")
        #expect(Self.merge(builder).total(in: [0..<10 * Self.s]) == 5)
    }

    @Test func ownOrderOfSources() {
        var builder = PageBuilder()
        builder.add(Self.type, 0, 10 * Self.s, 5, source: "Alpha")
        builder.add(Self.type, 0, 10 * Self.s, 50, source: "Watch")
        #expect(Self.merge(builder).total(in: [0..<10 * Self.s]) == 50)
        #expect(Self.merge(builder, order: SourceOrder(["Alpha"])).total(in: [0..<10 * Self.s]) == 5)
    }

    @Test func deletedAndQuarantinedRowsAreNothing() {
        var builder = PageBuilder()
        builder.add(Self.type, 0, 10 * Self.s, 5, flags: .deleted)
        builder.add(Self.type, 0, 10 * Self.s, 5, flags: .quarantined)
        #expect(Self.merge(builder).total(in: [0..<10 * Self.s]) == nil)
    }

    @Test func equalsTheGrid() {
        let buckets = (0..<8).map { $0 * 50..<($0 + 1) * 50 }
        for seed in 0..<300 {
            let builder = Self.random(seed: UInt64(seed))
            let merge = Self.merge(builder)
            let grid = GridMerge(rows: builder.rows, sources: ["Watch", "iPhone", "Alpha", "Beta"])
            let ranges = buckets.map { Instant($0.lowerBound) * Self.s..<Instant($0.upperBound) * Self.s }
            for (found, expected) in zip(merge.sums(in: ranges), grid.sums(buckets)) {
                #expect(Self.close(found, expected), "seed \(seed)")
            }
            let expected = grid.sums([10..<77, 130..<200]).reduce(nil as Double?) { sum, part in
                part.map { (sum ?? 0) + $0 } ?? sum
            }
            let total = merge.total(in: [10 * Self.s..<77 * Self.s, 130 * Self.s..<200 * Self.s])
            #expect(Self.close(total, expected), "seed \(seed)")
        }
    }

    @Test func arrivalDoesNotMatter() {
        let ranges = [0..<100 * Self.s, 100 * Self.s..<400 * Self.s]
        for seed in 0..<100 {
            var builder = Self.random(seed: UInt64(seed))
            let sums = Self.merge(builder).sums(in: ranges)
            var random = SeededRandom(seed: UInt64(seed) + 1000)
            builder.rows.shuffle(using: &random)
            // To the last bit, not only about.
            #expect(Self.merge(builder, inOrder: false).sums(in: ranges) == sums, "seed \(seed)")
        }
    }

    @Test func splittingASampleChangesNothing() throws {
        for seed in 0..<100 {
            var builder = Self.random(seed: UInt64(seed))
            let range = [0..<400 * Self.s]
            let total = Self.merge(builder).total(in: range)
            guard let index = builder.rows.firstIndex(where: { $0.end - $0.start > Self.s }) else { continue }
            let row = builder.rows.remove(at: index)
            let cut = row.start + (row.end - row.start) / 3
            let first = row.value * (Double(cut - row.start) / Double(row.end - row.start))
            builder.add(Self.type, row.start, cut, first, source: row.source)
            builder.add(Self.type, cut, row.end, row.value - first, source: row.source)
            #expect(Self.close(Self.merge(builder).total(in: range), total), "seed \(seed)")
        }
    }

    @Test func totalsExplainThemselves() throws {
        for seed in 0..<100 {
            let merge = Self.merge(Self.random(seed: UInt64(seed)))
            let ranges = [20 * Self.s..<120 * Self.s, 150 * Self.s..<400 * Self.s]
            let intervals = merge.intervals(in: ranges)
            let explained = intervals.isEmpty ? nil : intervals.reduce(0) { $0 + $1.amount }
            #expect(Self.close(explained, merge.total(in: ranges)), "seed \(seed)")
            let spans = intervals.filter { $0.start < $0.end }
            for (a, b) in zip(spans, spans.dropFirst()) { #expect(a.end <= b.start) }
        }
        var builder = PageBuilder()
        builder.add(Self.type, 0, 600 * Self.s, 600, source: "Watch")
        builder.add(Self.type, 300 * Self.s, 900 * Self.s, 1200, source: "iPhone")
        #expect(
            Self.merge(builder).intervals(in: [0..<900 * Self.s]) == [
                MergeInterval(start: 0, end: 300 * Self.s, counted: "Watch", covered: [], amount: 300),
                MergeInterval(
                    start: 300 * Self.s, end: 600 * Self.s, counted: "Watch", covered: ["iPhone"], amount: 300),
                MergeInterval(start: 600 * Self.s, end: 900 * Self.s, counted: "iPhone", covered: [], amount: 600),
            ])
    }

    /// Fails only where the cost grows with the square: 200,000 samples that all overlap.
    @Test(.timeLimit(.minutes(1))) func manyOverlapsAreNoTrap() {
        var builder = PageBuilder()
        for index in 0..<200_000 as Range<Int64> {
            builder.add(
                Self.type, index * Self.s, (index + 100_000) * Self.s, 1, source: index % 2 == 0 ? "Watch" : "iPhone")
        }
        let total = Self.merge(builder).total(in: [0..<400_000 * Self.s]) ?? 0
        #expect(total > 100_000 && total < 100_002)
    }
}
