import HealthModel
import HealthStatistics
import TestSupport
import Testing

/// Several sources of one night: what each says counts where none before it says anything.
@Suite struct SleepSourcesTests {
    private typealias Sample = SleepGrid.Sample

    private static func sessions(_ samples: [(Int64, Int64, Int, String)], gap: Int64 = 60) -> [SleepSession] {
        let page = SleepGrid(samples: samples.map { Sample(start: $0.0, end: $0.1, value: $0.2, source: $0.3) }).page()
        return SleepAnalysis.sessions(
            page, rows: page.rows(of: SleepGrid.type), gap: .microseconds(gap * SleepGrid.minute))
    }

    /// The watch died at 01:00, and another app has the night.
    @Test func anotherSourceHasTheRestOfTheNight() throws {
        let night = try #require(
            Self.sessions([(0, 120, 3, "Watch"), (0, 480, 1, "Ring"), (470, 490, 2, "Ring")]).first)
        #expect(night.source == "Watch" && night.asleep == 480 && night.core == 120 && night.unspecified == 360)
        #expect(night.sources.map(\.source) == ["Watch", "Ring"])
        #expect(night.sources.map(\.asleep) == [120, 360] && night.sources.map(\.awake) == [nil, 10])
        #expect(night.end.microseconds == 490 * SleepGrid.minute)
        // It was put on late.
        let late = try #require(Self.sessions([(120, 480, 3, "Watch"), (0, 470, 1, "Ring")]).first)
        #expect(late.start == .epoch && late.asleep == 480 && late.sources.map(\.asleep) == [360, 120])
    }

    @Test func aTimeAwakeIsNotFilled() throws {
        let night = try #require(
            Self.sessions([
                (0, 200, 3, "Watch"), (200, 230, 2, "Watch"), (232, 480, 5, "Watch"), (0, 480, 1, "Ring"),
            ]).first)
        #expect(night.asleep == 450 && night.awake == 30 && night.wakeAfterOnset == 30)
        #expect(night.sources.map(\.asleep) == [448, 2])
    }

    /// Sources disagree a little about when a person falls asleep and wakes up.
    @Test(arguments: [(60, 420), (61, 481)]) func theEdgesAreTheFirstSources(minutes: Int64, asleep: Double) throws {
        let night = try #require(Self.sessions([(100, 520, 3, "Watch"), (100 - minutes, 520, 1, "Ring")]).first)
        #expect(night.asleep == asleep)
        let end = try #require(Self.sessions([(100, 520, 3, "Watch"), (100, 520 + minutes, 1, "Ring")]).first)
        #expect(end.asleep == asleep)
        // Lying awake doesn't show that the source before it had ended.
        let awake = try #require(
            Self.sessions([(100, 520, 3, "Watch"), (100, 550, 1, "Ring"), (550, 700, 2, "Ring")]).first)
        #expect(awake.asleep == 420 && awake.awake == nil && awake.sources.map(\.source) == ["Watch"])
    }

    /// Known time in bed is the night; who lies awake outside it isn't in bed.
    @Test func theNightIsTheTimeInBed() throws {
        let night = try #require(
            Self.sessions([(20, 500, 0, "iPhone"), (0, 40, 2, "Watch"), (40, 470, 3, "Watch"), (470, 560, 2, "Watch")])
                .first)
        #expect(night.start.microseconds == 20 * SleepGrid.minute && night.end.microseconds == 500 * SleepGrid.minute)
        #expect(night.asleep == 430 && night.awake == 50 && night.inBed == 480)
        let early = try #require(Self.sessions([(20, 300, 0, "iPhone"), (0, 350, 3, "Watch")]).first)
        #expect(early.start == .epoch && early.end.microseconds == 350 * SleepGrid.minute)
    }

    private static func night(_ random: inout SeededRandom) -> SleepGrid {
        SleepGrid(
            samples: (0..<Int.random(in: 1...14, using: &random)).map { _ in
                let start = Int64.random(in: 0...700, using: &random)
                return Sample(
                    start: start, end: start + .random(in: 1...150, using: &random),
                    value: .random(in: 0...5, using: &random),
                    source: SleepGrid.names.randomElement(using: &random) ?? "Watch")
            })
    }

    /// What one source says is the least, and the union of all the most; minute by minute, it is the rule.
    @Test func itLiesBetweenOneSourceAndTheUnion() throws {
        var random = SeededRandom(seed: 36)
        var (filled, kept) = (0, 0)
        for _ in 0..<1000 {
            let grid = Self.night(&random)
            let gap = [0, 20, 60, 120].randomElement(using: &random) ?? Int64(60)
            let page = grid.page()
            let rows = page.rows(of: SleepGrid.type)
            let length = Duration.microseconds(gap * SleepGrid.minute)
            let sessions = SleepAnalysis.sessions(page, rows: rows, gap: length)
            let parts = grid.sessions(gap: gap)
            try #require(sessions.count == parts.count)
            for (session, part) in zip(sessions, parts) {
                let asleep = session.asleep ?? 0
                let expected = part.minutesBySource(gap: gap)
                #expect(asleep == Double(expected.values.reduce(0, +)))
                #expect(Double(part.ofOneSource) <= asleep && asleep <= Double(part.union))
                for share in session.sources { #expect(share.asleep ?? 0 == Double(expected[share.source] ?? 0)) }
                #expect(session.sources.reduce(0) { $0 + ($1.asleep ?? 0) } == asleep)
                #expect(session.sources.reduce(0) { $0 + ($1.awake ?? 0) } == session.awake ?? 0)
                #expect(Set(session.sources.map(\.source)).count == session.sources.count)
                if part.ofOneSource > 0 { #expect(session.sources.first?.asleep == Double(part.ofOneSource)) }
                filled += asleep > Double(part.ofOneSource) ? 1 : 0
                kept += asleep < Double(part.union) ? 1 : 0
            }
            for night in SleepAnalysis.explanations(page, rows: rows, gap: length) {
                for stretch in night.stretches {
                    #expect(night.session.start <= stretch.start && stretch.end <= night.session.end)
                }
                for share in night.session.sources {
                    let own = night.stretches.filter { $0.source == share.source && $0.stage != .inBed }
                    let total = own.reduce(0) { $0 + ($1.end - $1.start).seconds / 60 }
                    #expect(total == (share.asleep ?? 0) + (share.awake ?? 0))
                }
            }
        }
        #expect(filled > 200 && kept > 200)
    }

    @Test func arrivalDoesNotMatter() {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let grid = Self.night(&random)
            let pages = [grid.page(), grid.page { $0.shuffle(using: &random) }, grid.page { $0.reverse() }]
            let sessions = pages.map { SleepAnalysis.sessions($0, rows: $0.rows(of: SleepGrid.type)) }
            #expect(sessions.allSatisfy { $0 == sessions[0] }, "seed \(seed)")
        }
    }
}
