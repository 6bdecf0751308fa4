import HealthModel
import Inspection
import Testing

@Suite struct DayRunsTests {
    @Test func touchingRunsAreOne() {
        let runs = DayRuns([5...6, 1...2, 3...3, 6...9, 20...20])
        #expect(runs.runs == [1...3, 5...9, 20...20])
        #expect(runs.count == 9)
        #expect(runs.gaps == [4...4, 10...19] && runs.longestGap == 10...19)
        #expect(DayRuns([1...1, 3...3, 5...5]).longestGap == 4...4, "the latest of equals")
    }

    /// The median equals that of all distances listed individually.
    @Test func medianIsThatOfAllDistances() {
        var seed: UInt64 = 3
        for _ in 0..<500 {
            var days: Set<Int> = []
            for _ in 0..<12 {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                days.insert(Int(seed >> 33) % 25)
            }
            let sorted = days.sorted()
            let distances = zip(sorted, sorted.dropFirst()).map { $1 - $0 }.sorted()
            #expect(DayRuns(sorted.map { $0...$0 }).medianDistance == distances[distances.count / 2])
        }
        #expect(DayRuns([4...4]).medianDistance == nil && DayRuns().medianDistance == nil)
        #expect(DayRuns([1...10, 12...20]).isUsuallyDaily)
        #expect(!DayRuns([1...1, 8...8, 15...16]).isUsuallyDaily)
    }

    /// A single wrong date in 1900 doesn't cause every day since then to count as missing.
    @Test func aStretchOfDecadesIsNoGap() {
        let runs = DayRuns([-25_000 ... -25_000, 19_000...19_005, 19_007...19_009])
        #expect(runs.gaps == [19_006...19_006] && runs.longestGap == 19_006...19_006 && runs.isUsuallyDaily)
        #expect(runs.lastBeforeStretch == LocalDay(number: -25_000))
        let years = DayRuns([0...0, 3000...3001])
        #expect(years.gaps == [1...2999] && years.lastBeforeStretch == nil)
        #expect(DayRuns([-25_000 ... -25_000, 19_000...19_000]).medianDistance == 44_000)
    }

    @Test func boundsCutRuns() {
        let runs = DayRuns([10...20, 30...40])
        func day(_ number: Int) -> LocalDay { LocalDay(number: number) }
        #expect(runs.clamped(from: day(15), to: day(35)).runs == [15...20, 30...35])
        #expect(runs.clamped(from: day(21), to: day(29)).isEmpty)
        #expect(runs.clamped(from: nil, to: day(12)).runs == [10...12])
        #expect(runs.clamped(from: day(9), to: day(8)).isEmpty)
        #expect(runs.clamped(from: nil, to: nil) == runs)
    }
}
