import HealthModel
import HealthStatistics
import TestSupport
import Testing

@Suite struct SleepAnalysisTests {
    static let type = "HKCategoryTypeIdentifierSleepAnalysis"
    static let minute = 60 * Instant.microsecondsPerSecond

    /// Samples as (start, end, raw value, source), with the times in minutes.
    static func sessions(_ samples: [(Int64, Int64, Double, String)], gap: Int64 = 60) -> [SleepSession] {
        var builder = PageBuilder()
        for (start, end, value, source) in samples {
            builder.add(type, start * minute, end * minute, value, source: source)
        }
        let page = builder.page()
        return SleepAnalysis.sessions(page, rows: page.rows(of: type), gap: .microseconds(gap * minute))
    }

    @Test func aStagedNight() throws {
        let night = try #require(
            Self.sessions([
                (0, 480, 0, "iPhone"), (20, 100, 3, "Watch"), (100, 160, 4, "Watch"), (160, 170, 2, "Watch"),
                (170, 260, 5, "Watch"), (260, 440, 3, "Watch"),
            ]).first)
        #expect(night.start == .epoch && night.end.microseconds == 480 * Self.minute && night.source == "Watch")
        #expect(
            night.core == 260 && night.deep == 60 && night.rem == 90 && night.awake == 10 && night.unspecified == nil)
        #expect(night.asleep == 410 && night.inBed == 480 && night.latency == 20 && night.wakeAfterOnset == 10)
        #expect(night.efficiency == 410.0 / 480.0)
    }

    /// Phones record time in bed in pieces, as they are put down and picked up. Sleep outside these pieces also counts
    /// as time in bed.
    @Test func whoSleepsIsInBed() throws {
        let night = try #require(
            Self.sessions([(0, 400, 1, "App"), (380, 460, 0, "iPhone"), (470, 480, 0, "iPhone")]).first)
        #expect(night.asleep == 400 && night.inBed == 470 && night.efficiency == 400.0 / 470 && night.latency == nil)
    }

    @Test func withoutTimeInBedThereIsNoLatency() throws {
        let night = try #require(Self.sessions([(20, 100, 3, "Watch"), (100, 160, 1, "Watch")]).first)
        #expect(night.inBed == nil && night.latency == nil && night.efficiency == nil && night.awake == nil)
        #expect(night.asleep == 140)
    }

    /// Lying awake before the first sleep and after the last sleep doesn't count as waking up in the night.
    @Test func wakingInTheNight() throws {
        let night = try #require(
            Self.sessions([
                (0, 30, 2, "Watch"), (30, 100, 3, "Watch"), (100, 115, 2, "Watch"), (110, 200, 3, "Watch"),
                (200, 220, 2, "Watch"),
            ]).first)
        #expect(night.awake == 60 && night.wakeAfterOnset == 10 && night.latency == nil)
        let calm = try #require(Self.sessions([(0, 30, 2, "Watch"), (30, 100, 3, "Watch")]).first)
        #expect(calm.awake == 30 && calm.wakeAfterOnset == 0)
        let wake = try #require(Self.sessions([(0, 30, 2, "Watch")]).first)
        #expect(wake.awake == 30 && wake.wakeAfterOnset == nil && wake.asleep == nil)
    }

    /// The values of iOS 8, of iOS 10 (with awake), and of iOS 16 (with stages).
    @Test func olderSetsOfValues() throws {
        let eight = try #require(Self.sessions([(0, 480, 0, "iPhone"), (20, 460, 1, "iPhone")]).first)
        #expect(eight.inBed == 480 && eight.asleep == 440 && eight.unspecified == 440 && eight.core == nil)
        #expect(eight.latency == 20 && eight.awake == nil && eight.wakeAfterOnset == nil)
        let ten = try #require(
            Self.sessions([(0, 480, 0, "Watch"), (0, 200, 1, "Watch"), (200, 220, 2, "Watch"), (220, 480, 1, "Watch")])
                .first)
        #expect(ten.asleep == 460 && ten.awake == 20 && ten.wakeAfterOnset == 20)
    }

    @Test(arguments: [-1, 6, 99, 0.5, 1e300, -.infinity, .infinity, .nan])
    func unknownValuesAreNothing(_ value: Double) throws {
        #expect(Self.sessions([(0, 100, value, "Watch")]).isEmpty)
        // They neither keep a session together nor make a source count as one that records sleep.
        let sessions = Self.sessions([
            (0, 60, 1, "iPhone"), (0, 300, value, "Watch"), (200, 260, 1, "iPhone"),
        ])
        #expect(sessions.map(\.asleep) == [60, 60] && sessions.allSatisfy { $0.source == "iPhone" })
    }

    /// A phone that records time in bed, a watch that records stages, and a ring that records only sleep. Tests which
    /// of them counts in each session.
    @Test func severalSourcesInEachSession() {
        let sessions = Self.sessions([
            (0, 480, 0, "iPhone"), (10, 470, 1, "Ring"), (30, 240, 3, "Watch"), (240, 450, 5, "Watch"),
            (700, 760, 0, "iPhone"), (705, 755, 1, "Ring"),
        ])
        #expect(sessions.map(\.source) == ["Watch", "Ring"])
        #expect(sessions.map(\.asleep) == [420, 50] && sessions.map(\.inBed) == [480, 60])
        #expect(sessions.map(\.latency) == [30, 5] && sessions.map(\.efficiency) == [420.0 / 480, 50.0 / 60])
    }

    @Test func stagedSourcesWinOverOthersAndNothingCountsTwice() throws {
        let sessions = Self.sessions([
            (0, 260, 1, "Watch"), (10, 250, 1, "Alpha"), (30, 200, 3, "Beta"), (150, 220, 4, "Beta"),
            (180, 240, 2, "Beta"),
        ])
        let night = try #require(sessions.first)
        #expect(sessions.count == 1 && night.source == "Beta" && night.sources.map(\.source) == ["Beta"])
        #expect(night.start.microseconds == 30 * Self.minute && night.end.microseconds == 240 * Self.minute)
        #expect(night.deep == 70 && night.core == 120 && night.asleep == 190 && night.awake == 20)
    }

    @Test func gapsPartSessions() {
        let samples: [(Int64, Int64, Double, String)] = [
            (0, 400, 3, "Watch"), (460, 500, 3, "Watch"), (561, 600, 5, "Watch"),
        ]
        #expect(Self.sessions(samples).map { $0.end.microseconds / Self.minute } == [500, 600])
        #expect(Self.sessions(samples, gap: 30).count == 3)
        #expect(SleepAnalysis.main(of: Self.sessions(samples)) == 0)
    }

    /// The night continues for as long as any source shows the person asleep or in bed.
    @Test func aSourceThatIsLeftOutHoldsASessionTogether() throws {
        let sessions = Self.sessions([(0, 100, 3, "Watch"), (50, 400, 0, "Alpha"), (300, 420, 4, "Watch")])
        let night = try #require(sessions.first)
        #expect(sessions.count == 1 && night.source == "Watch" && night.asleep == 220 && night.awake == nil)
        #expect(night.start == .epoch && night.end.microseconds == 420 * Self.minute)
        // The session begins and ends with the samples that count, but its `reach` extends further.
        let longer = Self.sessions([(0, 150, 1, "Alpha"), (30, 100, 3, "Watch")])
        #expect(
            longer.map(\.start.microseconds) == [30 * Self.minute]
                && longer.map(\.end.microseconds) == [100 * Self.minute])
        #expect(longer.map(\.reach.microseconds) == [150 * Self.minute])
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
            for session in sessions {
                let (start, end) = (session.start.microseconds / Self.minute, session.end.microseconds / Self.minute)
                // Where time in bed is known, the night is that, and any sleep outside it.
                let inBed = samples.contains { $0.2 == 0 && $0.0 < end && start < $0.1 }
                #expect(inBed == (session.inBed != nil))
                let awake = (start..<end).count { minute in
                    let values = Set(samples.filter { $0.0 <= minute && minute < $0.1 }.map { $0.2 })
                    return values.contains(2) && values.isDisjoint(with: asleep)
                }
                #expect(session.awake ?? 0 == Double(awake))
                let edges = samples.filter { $0.2 != 2 || !inBed }
                #expect(edges.contains { $0.0 == start } && edges.contains { $0.1 == end })
            }
            for session in sessions where session.inBed != nil {
                let bed = (session.start.microseconds / Self.minute..<session.end.microseconds / Self.minute).count {
                    minute in
                    samples.contains { $0.2 != 2 && $0.0 <= minute && minute < $0.1 }
                }
                #expect(session.inBed == Double(bed))
                #expect(session.efficiency ?? 0 == (session.asleep ?? 0) / Double(bed))
            }
            for session in sessions {
                let stages = [session.core, session.deep, session.rem, session.unspecified].compactMap { $0 }
                #expect(stages.reduce(0, +) == (session.asleep ?? 0))
                if let efficiency = session.efficiency { #expect((0...1).contains(efficiency)) }
            }
        }
    }
}
