import HealthModel
import HealthStatistics
import TestSupport
import Testing

@Suite struct HeldSamplesTests {
    private static let type = "HKQuantityTypeIdentifierHeartRate"

    private func held(
        _ rows: [(Int64, Int64, Double, String)], order: [String] = [], within: [Range<Int64>] = [0..<1000]
    ) -> [HeldSamples.Stretch] {
        var builder = PageBuilder()
        for row in rows { builder.add(Self.type, row.0, row.1, row.2, source: row.3) }
        let page = builder.page()
        return HeldSamples(
            page, rows: Array(0..<page.count), order: SourceOrder(order), hold: .microseconds(60),
            within: IntervalSet(within.instants)
        ).stretches
    }

    private func stretch(_ range: Range<Int64>, _ value: Double) -> HeldSamples.Stretch {
        HeldSamples.Stretch(range: Range(microseconds: range), value: value)
    }

    @Test func aSampleHoldsUntilTheNextButNotForEver() {
        #expect(
            held([(10, 10, 100, "Watch"), (40, 40, 110, "Watch"), (200, 230, 120, "Watch")])
                == [stretch(10..<40, 100), stretch(40..<100, 110), stretch(200..<290, 120)])
        #expect(held([(10, 10, 100, "Watch"), (10, 10, 110, "Watch")]) == [stretch(10..<70, 110)])
        #expect(held([]) == [])
    }

    @Test func onlyWhatIsWithinCounts() {
        #expect(
            held([(10, 10, 100, "Watch"), (50, 50, 110, "Watch")], within: [0..<20, 30..<60])
                == [stretch(10..<20, 100), stretch(30..<50, 100), stretch(50..<60, 110)])
    }

    @Test func sourcesFillWhatTheFirstLeaves() {
        let rows: [(Int64, Int64, Double, String)] = [
            (0, 0, 90, "Strap"), (50, 50, 95, "Strap"), (20, 20, 100, "Watch"),
        ]
        #expect(held(rows) == [stretch(20..<80, 100), stretch(0..<20, 90), stretch(80..<110, 95)])
        #expect(
            held(rows, order: ["Strap"]) == [stretch(0..<50, 90), stretch(50..<110, 95)])
    }

    /// No instant counts twice, and every instant covered by a sample from any source counts.
    @Test(arguments: UInt64(1)...30) func coversEachInstantOnce(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let rows = (0..<60).map { _ -> (Int64, Int64, Double, String) in
            let start = Int64.random(in: 0..<900, using: &random)
            let length = Bool.random(using: &random) ? 0 : Int64.random(in: 0..<50, using: &random)
            return (
                start, start + length, Double.random(in: 60..<180, using: &random),
                "S\(Int.random(in: 0..<3, using: &random))"
            )
        }
        let within: [Range<Int64>] = [100..<400, 420..<800]
        let found = held(rows, within: within)
        let union = IntervalSet(found.map(\.range))
        #expect(union.length == .microseconds(found.reduce(0) { $0 + $1.range.microseconds.count }))
        // A second is covered if some sample is at most 60 seconds old.
        for second in Int64(0)..<1000 {
            let isHeld =
                rows.contains { $0.0 <= second && second < $0.1 + 60 }
                && within.contains { $0.contains(second) }
            let isFound = union.ranges.contains { $0.microseconds.contains(second) }
            // A longer sample may be cut short by the next one from its source, which is then held for the same length
            // of time.
            if isFound { #expect(isHeld) }
            if rows.contains(where: { $0.0 <= second && second < $0.0 + 60 }),
                within.contains(where: { $0.contains(second) })
            {
                #expect(isFound)
            }
        }
    }
}
