import HealthModel
import HealthStatistics
import TestSupport
import Testing

/// An explanation is derived from the same data as its figure.
@Suite struct ExplanationTests {
    private static let minute = 60 * Instant.microsecondsPerSecond
    private static let sleep = "HKCategoryTypeIdentifierSleepAnalysis"
    private static let steps = "HKQuantityTypeIdentifierStepCount"
    private static let rate = "HKQuantityTypeIdentifierHeartRate"

    private static func night(_ random: inout SeededRandom) -> SamplePage {
        var builder = PageBuilder()
        for _ in 0..<Int.random(in: 0...40, using: &random) {
            let start = Int64.random(in: 0...1200, using: &random)
            builder.add(
                sleep, start * minute, (start + .random(in: 0...90, using: &random)) * minute,
                Double(Int.random(in: 0...6, using: &random)),
                source: ["Anna’s Apple Watch", "iPhone", "AutoSleep"].randomElement(using: &random) ?? "")
        }
        return builder.page()
    }

    @Test func sessionsExplainThemselves() {
        var random = SeededRandom(seed: 11)
        var sessions = 0
        for _ in 0..<300 {
            let page = Self.night(&random)
            let rows = page.rows(of: Self.sleep)
            let explained = SleepAnalysis.explanations(page, rows: rows)
            #expect(explained.map(\.session) == SleepAnalysis.sessions(page, rows: rows))
            sessions += explained.count
            for night in explained {
                func minutes(_ stages: SleepStage...) -> Double {
                    night.stretches.filter { stages.contains($0.stage) }.reduce(0) { $0 + ($1.end - $1.start).seconds }
                        / 60
                }
                #expect(minutes(.deep, .rem, .core, .unspecified) == night.session.asleep ?? 0)
                #expect(minutes(.deep) == night.session.deep ?? 0)
                #expect(minutes(.awake) == night.session.awake ?? 0)
                #expect(minutes(.inBed) == night.session.inBed ?? 0)
                #expect((night.bedSource == nil) == (night.session.inBed == nil))
                let stages = night.stretches.filter { $0.stage != .inBed }
                for (a, b) in zip(stages, stages.dropFirst()) { #expect(a.end <= b.start) }
                #expect(!night.leftOut.contains(night.session.source))
            }
        }
        #expect(sessions > 300)
    }

    @Test func theNightNamesItsSources() throws {
        var builder = PageBuilder()
        builder.add(Self.sleep, 0, 480 * Self.minute, 0, source: "iPhone")
        builder.add(Self.sleep, 20 * Self.minute, 200 * Self.minute, 3, source: "Watch")
        builder.add(Self.sleep, 100 * Self.minute, 250 * Self.minute, 1, source: "AutoSleep")
        let page = builder.page()
        let night = try #require(SleepAnalysis.explanations(page, rows: page.rows(of: Self.sleep)).first)
        #expect(night.session.source == "Watch" && night.knows == .stages && night.bedSource == "iPhone")
        #expect(night.leftOut == ["AutoSleep"] && Set(night.stretches.map(\.source)) == ["iPhone", "Watch"])
    }

    private static func walk(_ random: inout SeededRandom) -> CumulativeMerge {
        var builder = PageBuilder()
        for _ in 0..<Int.random(in: 1...60, using: &random) {
            let start = Int64.random(in: 0...600, using: &random)
            let isByHand = Int.random(in: 0...9, using: &random) == 0
            builder.add(
                steps, start * minute, (start + .random(in: 0...15, using: &random)) * minute,
                Double(Int.random(in: 1...500, using: &random)),
                source: ["Watch", "iPhone", "Pedometer"].randomElement(using: &random) ?? "",
                flags: isByHand ? .userEntered : [])
        }
        let page = builder.page()
        return CumulativeMerge(page, rows: page.rows(of: steps))
    }

    @Test func partsAddUpToTheTotal() {
        var random = SeededRandom(seed: 12)
        for _ in 0..<300 {
            let merge = Self.walk(&random)
            let ranges = [30 * Self.minute..<200 * Self.minute, 230 * Self.minute..<500 * Self.minute]
            let total = merge.total(in: ranges) ?? 0
            let intervals = merge.intervals(in: ranges)
            let joined = MergeInterval.joined(intervals, gap: .microseconds(30 * Self.minute))
            let shares = merge.shares(in: ranges)
            #expect(joined.count <= intervals.count)
            for amounts in [intervals.map(\.amount), joined.map(\.interval.amount), shares.map(\.amount)] {
                #expect(abs(amounts.reduce(0, +) - total) <= 1e-9 * max(1, total))
            }
            let time = intervals.reduce(Duration.zero) { $0 + ($1.end - $1.start) }
            #expect(joined.reduce(Duration.zero) { $0 + $1.time } == time)
            #expect(shares.reduce(Duration.zero) { $0 + $1.counted } == time)
            for (a, b) in zip(joined, joined.dropFirst())
            where b.interval.start - a.interval.end < .microseconds(30 * Self.minute) {
                #expect(a.interval.counted != b.interval.counted || a.interval.covered != b.interval.covered)
            }
        }
    }

    @Test func entriesByHandAreNamed() {
        var builder = PageBuilder()
        builder.add(Self.steps, 0, 10 * Self.minute, 100, source: "Health", flags: .userEntered)
        builder.add(Self.steps, 0, 20 * Self.minute, 400, source: "Health")
        let page = builder.page()
        let shares = CumulativeMerge(page, rows: page.rows(of: Self.steps)).shares(in: [0..<20 * Self.minute])
        #expect(shares.map(\.source) == ["Health (by hand)", "Health"])
        #expect(shares.map(\.amount) == [100, 200])
    }

    @Test func minimumAndMaximumAreThoseOfTheFigure() throws {
        var builder = PageBuilder()
        builder.add(Self.rate, 0, 60 * Self.minute, 75)
        builder.add(Self.rate, 90 * Self.minute, 90 * Self.minute, 70, source: "Strap")
        var page = builder.page()
        page.payload.append(#"{"maximum":120,"minimum":48}"#)
        page.payload.append("")
        let explained = DiscreteExplanation(
            page, rows: page.rows(of: Self.rate), style: .temporallyWeighted, order: SourceOrder(),
            in: [0..<100 * Self.minute])
        #expect(explained.all.minimum == 48 && explained.all.maximum == 120)
        let bySource = Dictionary(uniqueKeysWithValues: explained.sources.map { ($0.name, $0.statistics) })
        #expect(bySource["Watch"]?.minimum == 48 && bySource["Watch"]?.maximum == 120)
        #expect(bySource["Strap"]?.minimum == 70 && bySource["Strap"]?.maximum == 70)
    }

    @Test func averagesAreOfTheSameSamples() throws {
        var random = SeededRandom(seed: 13)
        for _ in 0..<200 {
            var builder = PageBuilder()
            for _ in 0..<Int.random(in: 1...50, using: &random) {
                let start = Int64.random(in: 0...600, using: &random)
                builder.add(
                    Self.rate, start * Self.minute, (start + .random(in: 0...2, using: &random)) * Self.minute,
                    Double(Int.random(in: 40...180, using: &random)),
                    source: Bool.random(using: &random) ? "Watch" : "Strap")
            }
            let page = builder.page()
            let rows = page.rows(of: Self.rate)
            let ranges = [10 * Self.minute..<500 * Self.minute]
            let plain = DiscreteStatistics(page, rows: rows, style: .temporallyWeighted, in: ranges)
            let explained = DiscreteExplanation(
                page, rows: rows, style: .temporallyWeighted, order: SourceOrder(), in: ranges)
            #expect(explained.all.average == plain.average && explained.all.count == plain.count)
            #expect(explained.latest?.value == plain.mostRecent)
            #expect(explained.sources.reduce(0) { $0 + $1.statistics.count } == plain.count)
            #expect(explained.samples.count == plain.count)
            guard explained.isWeighted, let average = plain.average else { continue }
            let weighted = explained.sources.reduce(0.0) {
                $0 + ($1.time > .zero ? $1.statistics.average ?? 0.0 : 0.0) * ($1.time.seconds / explained.time.seconds)
            }
            #expect(abs(weighted - average) < 1e-9 * average)
        }
    }
}
