import HealthModel
import HealthStatistics
import Testing

@Suite struct SleepAnalysisTests {
    static let type = "HKCategoryTypeIdentifierSleepAnalysis"
    static let minute = 60 * Instant.second

    /// Samples as (start, end, raw value, source), minutes.
    static func sessions(_ samples: [(Int64, Int64, Double, String)], gap: Int64 = 60) -> [SleepSession] {
        var builder = PageBuilder()
        for (start, end, value, source) in samples {
            builder.add(type, start * minute, end * minute, value, source: source)
        }
        let page = builder.page()
        return SleepAnalysis.sessions(page, rows: page.rows(of: type), gap: gap * minute)
    }

    @Test func aStagedNight() throws {
        let night = try #require(
            Self.sessions([
                (0, 480, 0, "iPhone"), (20, 100, 3, "Watch"), (100, 160, 4, "Watch"), (160, 170, 2, "Watch"),
                (170, 260, 5, "Watch"), (260, 440, 3, "Watch"),
            ]).first)
        #expect(night.start == 0 && night.end == 480 * Self.minute && night.source == "Watch")
        #expect(
            night.core == 260 && night.deep == 60 && night.rem == 90 && night.awake == 10 && night.unspecified == nil)
        #expect(night.asleep == 410 && night.inBed == 480 && night.latency == 20)
        #expect(night.efficiency == 410.0 / 480.0)
    }

    @Test func withoutTimeInBedThereIsNoLatency() throws {
        let night = try #require(Self.sessions([(20, 100, 3, "Watch"), (100, 160, 1, "Watch")]).first)
        #expect(night.inBed == nil && night.latency == nil && night.efficiency == nil && night.awake == nil)
        #expect(night.asleep == 140)
    }

    @Test func stagedSourcesWinOverOthersAndNothingCountsTwice() throws {
        let sessions = Self.sessions([
            (0, 400, 1, "Watch"), (10, 390, 1, "Alpha"), (30, 200, 3, "Beta"), (150, 220, 4, "Beta"),
            (180, 240, 2, "Beta"),
        ])
        let night = try #require(sessions.first)
        #expect(sessions.count == 1 && night.source == "Beta")
        #expect(night.start == 30 * Self.minute && night.end == 240 * Self.minute)
        #expect(night.deep == 70 && night.core == 120 && night.asleep == 190 && night.awake == 20)
    }

    @Test func gapsPartSessions() {
        let samples: [(Int64, Int64, Double, String)] = [
            (0, 400, 3, "Watch"), (460, 500, 3, "Watch"), (561, 600, 5, "Watch"),
        ]
        #expect(Self.sessions(samples).map { $0.end / Self.minute } == [500, 600])
        #expect(Self.sessions(samples, gap: 30).count == 3)
        #expect(SleepAnalysis.main(of: Self.sessions(samples)) == 0)
    }

    @Test func aDroppedSourceHoldsNothingTogether() {
        let sessions = Self.sessions([(0, 100, 3, "Watch"), (50, 400, 1, "Alpha"), (300, 400, 4, "Watch")])
        #expect(sessions.map(\.asleep) == [100, 100])
    }

    @Test func theMainSleepIsTheOneWithTheMostSleep() {
        let sessions = Self.sessions([(0, 60, 1, "Watch"), (200, 900, 0, "iPhone"), (1000, 1100, 1, "Watch")])
        #expect(sessions.count == 3)
        #expect(SleepAnalysis.main(of: sessions) == 2)
        #expect(SleepAnalysis.main(of: []) == nil)
    }

    /// Minute by minute: asleep is the union of its stages, and every minute is counted once.
    @Test func equalsTheGrid() {
        for seed in 0..<200 {
            var random = SeededRandom(seed: UInt64(seed))
            var samples: [(Int64, Int64, Double, String)] = []
            for _ in 0..<Int.random(in: 1...25, using: &random) {
                let start = Int64.random(in: 0..<500, using: &random)
                let value = Double(Int.random(in: 0...5, using: &random))
                samples.append((start, start + Int64.random(in: 1...80, using: &random), value, "Watch"))
            }
            func minutes(_ fits: (Set<Double>) -> Bool) -> Int {
                (0..<600).count { minute in
                    fits(Set(samples.filter { $0.0 <= minute && minute < $0.1 }.map { $0.2 }))
                }
            }
            let sessions = Self.sessions(samples)
            func total(_ value: (SleepSession) -> Double?) -> Int { Int(sessions.compactMap(value).reduce(0, +)) }
            let asleep: Set<Double> = [1, 3, 4, 5]
            #expect(total(\.asleep) == minutes { !$0.isDisjoint(with: asleep) })
            #expect(total(\.awake) == minutes { $0.contains(2) && $0.isDisjoint(with: asleep) })
            #expect(total(\.inBed) == minutes { $0.contains(0) })
            for session in sessions {
                let stages = [session.core, session.deep, session.rem, session.unspecified].compactMap { $0 }
                #expect(stages.reduce(0, +) == (session.asleep ?? 0))
                if let efficiency = session.efficiency { #expect((0...1).contains(efficiency)) }
            }
        }
    }
}
