import HealthModel
import SleepStage
import TestSupport
import Testing

/// Nights of people who change zones: the window from evening to evening may then be shorter, longer, in several pieces,
/// or missing.
@Suite struct SleepJourneyTests {
    private static let names = [
        "Europe/Berlin", "Asia/Tokyo", "Pacific/Honolulu", "America/New_York", "Pacific/Kiritimati", "Pacific/Apia",
        "Australia/Lord_Howe", "Asia/Kathmandu",
    ]

    /// Up to six changes of zone in the days of the life.
    private static func journey(_ random: inout SeededRandom) throws -> ZoneTimeline {
        var at = try #require(InstantText.parse("2025-03-24T00:00:00Z"))
        var entries = [ZoneTimeline.Entry(from: .distantPast, zone: names.randomElement(using: &random) ?? names[0])]
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            at += .seconds(60 * Int64.random(in: 30...4000, using: &random))
            entries.append(.init(from: at, zone: names.randomElement(using: &random) ?? names[0]))
        }
        return try ZoneTimeline(entries)
    }

    /// Wherever somebody travels, each session is one day's, and none is lost.
    @Test func everySessionIsOneDaysOnAnyJourney() throws {
        var (found, unusual) = (0, 0)
        for seed in 0..<300 as Range<UInt64> {
            var life = try SleepDirtinessTests.Life(seed: seed)
            life.zones = try Self.journey(&life.random)
            for _ in 0..<Int.random(in: 5...40, using: &life.random) {
                let sample = life.make()
                if sample.end - sample.start <= 6 * SleepDirtinessTests.hour { life.samples.append(sample) }
            }
            let window = try SleepHandler().window(life.configuration)
            let outputs = try life.outputs()
            let events = outputs.values.flatMap(\.events)
            #expect(Set(events.map(\.id)).count == events.count, "seed \(seed)")
            for session in life.sessions()
            where session.upperBound - session.lowerBound <= 12 * SleepDirtinessTests.hour {
                let last = session.upperBound - .microseconds(1)
                let days = outputs.keys.filter { life.zones.window(of: $0, window).contains { $0.contains(last) } }
                try #require(days.count == 1, "seed \(seed): \(session)")
                let pieces = life.zones.window(of: days[0], window)
                if pieces.count != 1 || pieces[0].upperBound - pieces[0].lowerBound != 24 * SleepDirtinessTests.hour {
                    unusual += 1
                }
                for (day, output) in outputs {
                    let own = output.events.count { event in
                        let start = event.payload["start"].string.flatMap { InstantText.parse($0) }
                        return start.map(session.contains) == true
                    }
                    #expect(own == (day == days[0] ? 1 : 0), "seed \(seed), \(day): \(session)")
                }
                found += 1
            }
        }
        #expect(found > 600 && unusual > 100)
    }
}
