import HealthModel
import HealthStatistics
import Testing

@Suite struct CumulativeMergeTests {
    static let type = "HKQuantityTypeIdentifierStepCount"
    static let s = Instant.microsecondsPerSecond

    static func merge(_ builder: PageBuilder, order: SourceOrder = SourceOrder()) -> CumulativeMerge {
        let page = builder.page()
        return CumulativeMerge(page, rows: page.rows(of: type), order: order)
    }

    @Test func theFirstSourceCountsAndTheOthersFillIn() {
        var builder = PageBuilder()
        builder.add(Self.type, 0, 600 * Self.s, 600, source: "Watch")
        builder.add(Self.type, 300 * Self.s, 900 * Self.s, 1200, source: "iPhone")
        let merge = Self.merge(builder)
        // Of the phone's 600 seconds, only the last 300 count.
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
        builder.add(Self.type, 15 * Self.s, 15 * Self.s, 2, source: "Watch")
        #expect(Self.merge(builder).total(in: [0..<20 * Self.s]) == 38)
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

    @Test func totalsExplainThemselves() {
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

    /// 200,000 samples that all overlap; this fails only if the cost is quadratic.
    @Test(.timeLimit(.minutes(30))) func manyOverlapsAreNoTrap() {
        var builder = PageBuilder()
        for index in 0..<200_000 as Range<Int64> {
            builder.add(
                Self.type, index * Self.s, (index + 14_000) * Self.s, 1, source: index % 2 == 0 ? "Watch" : "iPhone")
        }
        let total = Self.merge(builder).total(in: [0..<400_000 * Self.s]) ?? 0
        #expect(total > 100_000 && total < 100_002)
    }
}
