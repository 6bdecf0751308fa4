import HealthModel
import SleepStage
import TestSupport
import Testing

/// The nights that must be computed again after a sleep sample changes: exactly those whose slice can contain it, and
/// these are enough.
@Suite struct SleepDirtinessTests {
    static let type = "HKCategoryTypeIdentifierSleepAnalysis"
    static let first = LocalDay(year: 2025, month: 3, day: 24)
    static let days = 12
    static let hour = Duration.seconds(3600)

    struct Sample {
        var id: SampleID
        var start: Instant
        var end: Instant
        var stage: Double
        var source: String
    }

    /// Some nights of a person whose clocks go forward, and who may travel by plane.
    struct Life {
        var zones: ZoneTimeline
        var configuration: Value
        var samples: [Sample] = []
        var random: SeededRandom
        var sources = ["Watch", "iPhone", "Ring"]

        init(seed: UInt64) throws {
            random = SeededRandom(seed: seed)
            let landed = try #require(InstantText.parse("2025-03-29T20:00:00Z"))
            let flies = Bool.random(using: &random)
            zones = try ZoneTimeline(
                [.init(from: .distantPast, zone: "Europe/Berlin")]
                    + (flies ? [.init(from: landed, zone: ["Asia/Tokyo", "Pacific/Honolulu"][Int(seed % 2)])] : []))
            let gaps: [Value] = [0.0, 20.0, 60.0, 90.5, 240.0, 720.0]
            let hours: [Value] = [12, 15, 18, 21, 23]
            configuration = [
                "gapMinutes": gaps.randomElement(using: &random) ?? 60.0,
                "windowHour": hours.randomElement(using: &random) ?? 18,
            ]
        }

        mutating func make() -> Sample {
            let minute = Duration.seconds(60)
            let begin = zones.ranges(of: first).first?.lowerBound ?? 0
            let start = begin + Int64.random(in: 0..<Int64(days * 24 * 60), using: &random) * minute
            // Sleep stages, naps, long periods in bed, and sleep that lasts more than a day.
            let lengths: [ClosedRange<Int64>] = [0...40, 10...120, 300...600, 900...2400]
            let kind = [0, 0, 0, 1, 1, 2, 3].randomElement(using: &random) ?? 0
            return Sample(
                id: SampleID(high: random.next(), low: random.next()), start: start,
                end: start + Int64.random(in: lengths[kind], using: &random) * minute,
                stage: Double(kind == 2 ? 0 : Int.random(in: 0...6, using: &random)),
                source: sources.randomElement(using: &random) ?? sources[0])
        }

        func outputs() throws -> [LocalDay: DayOutput] {
            let page = page()
            let window = try SleepHandler().window(configuration)
            var outputs: [LocalDay: DayOutput] = [:]
            for number in -3...SleepDirtinessTests.days + 3 {
                let day = first.adding(days: number)
                outputs[day] = try SleepHandler().compute(
                    DayInput(
                        user: "anna", day: day, window: window, zones: zones, cutting: page,
                        configuration: configuration))
            }
            return outputs
        }

        func page() -> SamplePage {
            var page = SamplePage()
            page.types = [SleepDirtinessTests.type]
            page.origins = sources.map { Origin(sourceName: $0) }
            for sample in samples.sorted(by: { ($0.start, $0.id) < ($1.start, $1.id) }) {
                page.ids.append(sample.id)
                page.sequence.append(1)
                page.type.append(0)
                page.start.append(sample.start.microseconds)
                page.end.append(sample.end.microseconds)
                page.value.append(sample.stage)
                page.origin.append(Int32(sources.firstIndex(of: sample.source) ?? 0))
                page.flags.append([])
            }
            return page
        }
    }

    @Test func theTouchedNightsAreAllThatChange() throws {
        var changes = 0
        for seed in 0..<150 as Range<UInt64> {
            var life = try Life(seed: seed)
            for _ in 0..<Int.random(in: 5...40, using: &life.random) { life.samples.append(life.make()) }
            let window = try SleepHandler().window(life.configuration)
            var before = try life.outputs()
            for _ in 0..<4 {
                let changed: Sample
                if !life.samples.isEmpty, Bool.random(using: &life.random) {
                    changed = life.samples.remove(at: Int.random(in: life.samples.indices, using: &life.random))
                } else {
                    changed = life.make()
                    life.samples.append(changed)
                }
                let after = try life.outputs()
                let touched = Set(life.zones.days(touching: changed.start, end: changed.end, window))
                for (day, output) in after where output != before[day] {
                    #expect(touched.contains(day), "seed \(seed), \(day)")
                    changes += 1
                }
                before = after
            }
        }
        // If nothing had changed, the test would prove nothing.
        #expect(changes > 300)
    }

    /// With one source and sessions of at most half a day, the nights together contain everything in the whole life,
    /// with each session exactly once.
    @Test func everySessionIsOneNights() throws {
        var found = 0
        for seed in 0..<150 as Range<UInt64> {
            var life = try Life(seed: seed)
            life.sources = ["Watch"]
            for _ in 0..<Int.random(in: 5...25, using: &life.random) {
                let sample = life.make()
                if sample.end - sample.start <= 6 * Self.hour { life.samples.append(sample) }
            }
            let events = try life.outputs().values.flatMap(\.events)
            #expect(Set(events.map(\.id)).count == events.count, "seed \(seed)")
            let sessions = life.sessions().filter { $0.upperBound - $0.lowerBound <= 12 * Self.hour }
            let spans = Set(
                events.map { [$0.payload["start"].string ?? "", $0.payload["end"].string ?? ""] })
            for session in sessions {
                let night = life.night(session)
                let span = [InstantText.iso8601(night.lowerBound), InstantText.iso8601(night.upperBound)]
                #expect(spans.contains(span), "seed \(seed): \(span)")
                found += 1
            }
        }
        #expect(found > 300)
    }

    /// The same holds for several sources: however they overlap at the edges of a window, no session belongs to two
    /// days, and none is lost.
    @Test func everySessionOfSeveralSourcesIsOneNights() throws {
        var found = 0
        for seed in 0..<300 as Range<UInt64> {
            var life = try Life(seed: seed)
            for _ in 0..<Int.random(in: 5...40, using: &life.random) {
                let sample = life.make()
                if sample.end - sample.start <= 6 * Self.hour { life.samples.append(sample) }
            }
            let events = try life.outputs().values.flatMap(\.events)
            #expect(Set(events.map(\.id)).count == events.count, "seed \(seed)")
            let times = try events.map { event in
                try #require(event.payload["start"].string.flatMap { InstantText.parse($0) })
            }
            for session in life.sessions() {
                let own = times.count(where: session.contains)
                #expect(own <= 1, "seed \(seed): \(session)")
                guard session.upperBound - session.lowerBound <= 12 * Self.hour else { continue }
                #expect(own == 1, "seed \(seed): \(session)")
                found += 1
            }
        }
        #expect(found > 600)
    }

    @Test func aUsualSampleTouchesOneOrTwoNights() throws {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let window = try SleepHandler().window([:])
        for (start, end, nights) in [
            ("2025-06-01T22:30:00+02:00", "2025-06-02T05:30:00+02:00", [2]),
            ("2025-06-02T02:00:00+02:00", "2025-06-02T02:20:00+02:00", [2]),
            ("2025-06-02T06:10:00+02:00", "2025-06-02T06:30:00+02:00", [2, 3]),
            ("2025-06-02T14:00:00+02:00", "2025-06-02T14:40:00+02:00", [2, 3]),
            ("2025-06-02T18:30:00+02:00", "2025-06-02T18:50:00+02:00", [2, 3]),
            ("2025-06-02T19:00:01+02:00", "2025-06-02T19:30:00+02:00", [3]),
        ] {
            let touched = zones.days(
                touching: try #require(InstantText.parse(start)), end: try #require(InstantText.parse(end)), window)
            #expect(touched.map(\.day) == nights, "\(start)")
        }
    }
}

extension SleepDirtinessTests.Life {
    /// The stretches that have no gap longer than allowed, computed in the simplest way.
    func sessions() -> [Range<Instant>] {
        let gap = Duration.seconds(Int64((configuration["gapMinutes"].double ?? 0) * 60))
        var sessions: [Range<Instant>] = []
        for sample in samples.sorted(by: { $0.start < $1.start }) where sample.start < sample.end && sample.stage < 6 {
            if let last = sessions.last, sample.start - last.upperBound <= gap {
                sessions[sessions.count - 1] = last.lowerBound..<max(last.upperBound, sample.end)
            } else {
                sessions.append(sample.start..<sample.end)
            }
        }
        return sessions
    }

    /// A session's start and end: those of its time in bed and sleep if it has time in bed, else of all its samples.
    func night(_ session: Range<Instant>) -> Range<Instant> {
        let own = samples.filter { $0.start < $0.end && $0.stage < 6 && session.contains($0.start) }
        let counted = own.contains { $0.stage == 0 } ? own.filter { $0.stage != 2 } : own
        guard let start = counted.map(\.start).min(), let end = counted.map(\.end).max() else { return session }
        return start..<end
    }
}
