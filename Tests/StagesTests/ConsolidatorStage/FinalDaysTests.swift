import Changelog
import ConsolidatorStage
import HealthModel
import Protocol
import TestSupport
import Testing

/// When days become final: at 00:01 on the next local day, on the observer's heartbeat, even if the machine slept for a
/// long time.
@Suite struct FinalDaysTests {
    private static let minute = Duration.seconds(60)

    /// Some steps on each of these days.
    private func stages(_ zone: String, _ days: [LocalDay], now: Instant) throws -> LinkedStages {
        let stages = try LinkedStages(zone: zone, now: now)
        try stages.add(
            days.map { day in
                let start = stages.zones.ranges(of: day).first?.lowerBound ?? 0
                return Record(start: start + .seconds(10 * 3600), value: 100)
            })
        try stages.flow()
        return stages
    }

    private func final(_ stages: LinkedStages) throws -> [String] {
        try stages.days().filter { $0.value["final"] == true }.keys.sorted()
    }

    /// The machine has slept for days: it wakes at noon on the fifth day.
    @Test func afterALongSleepAllDaysThroughYesterdayAreFinalAtOnce() throws {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let first = LocalDay(year: 2025, month: 3, day: 27)
        let days = (0..<7).map { first.adding(days: $0) }
        let stages = try stages("Europe/Berlin", days, now: zones.hour(12, of: days[1]))
        #expect(try final(stages) == [days[0].description])

        stages.now = zones.hour(12, of: days[5])
        try stages.flow()
        #expect(try final(stages) == days[..<5].map(\.description))
        #expect(try stages.days().values.allSatisfy { $0["revision"] == ($0["final"] == true ? 1 : 0) })

        // If this is repeated, even with the clock set back, nothing is written, and no day is reopened.
        let sequence = stages.consolidator.store.sequence
        try stages.flow()
        stages.now = zones.hour(12, of: days[2])
        try stages.flow()
        try stages.consolidator.restart()
        try stages.flow()
        #expect(stages.consolidator.store.sequence == sequence)
    }

    /// Zone, date, and the first moment (UTC) at which the day is final.
    @Test(arguments: [
        ("Europe/Berlin", "2025-03-26", "2025-03-26 23:01:00 +0000"),
        // Days of 23 and 25 hours.
        ("Europe/Berlin", "2025-03-30", "2025-03-30 22:01:00 +0000"),
        ("Europe/Berlin", "2025-10-26", "2025-10-26 23:01:00 +0000"),
        // The next day begins at 01:00: midnight is skipped.
        ("Africa/Cairo", "2024-04-25", "2024-04-25 22:01:00 +0000"),
        ("Asia/Beirut", "2024-03-30", "2024-03-30 22:01:00 +0000"),
        ("America/Sao_Paulo", "2018-11-03", "2018-11-04 03:01:00 +0000"),
        // The day on which midnight is skipped.
        ("America/Sao_Paulo", "2018-11-04", "2018-11-05 02:01:00 +0000"),
        // The hour from 23:00 to 24:00 occurs twice.
        ("America/Sao_Paulo", "2018-02-17", "2018-02-18 03:01:00 +0000"),
        // A clock change of half an hour, and an offset with three quarters of an hour.
        ("Australia/Lord_Howe", "2025-04-06", "2025-04-06 13:31:00 +0000"),
        ("Asia/Kathmandu", "2025-03-26", "2025-03-26 18:16:00 +0000"),
        // The day before a skipped date.
        ("Pacific/Apia", "2011-12-29", "2011-12-30 10:01:00 +0000"),
        ("Pacific/Kiritimati", "2025-03-26", "2025-03-26 10:01:00 +0000"),
        ("Etc/GMT+12", "2025-03-26", "2025-03-27 12:01:00 +0000"),
    ]) func notBeforeOneMinutePastMidnight(_ zone: String, _ date: String, _ moment: String) throws {
        let day = try #require(LocalDay(date))
        let expected = try #require(InstantText.parse(moment))
        let stages = try stages(zone, [day], now: expected - 3 * Self.minute)
        for early in [Self.minute, .microseconds(1)] {
            stages.now = expected - early
            try stages.flow()
            #expect(try final(stages) == [], "\(early) early")
        }
        stages.now = expected
        try stages.flow()
        #expect(try final(stages) == [date])
    }

    /// Only the observer knows whether anything has arrived: without a heartbeat that it sent after 00:01, nothing is
    /// final.
    @Test func withoutTheObserverNothingTurnsFinal() throws {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let day = LocalDay(year: 2025, month: 3, day: 27)
        let stages = try stages("Europe/Berlin", [day], now: zones.hour(23, of: day))
        let spoken = try stages.observerBeat().message(at: zones.hour(24, of: day))
        stages.now = zones.hour(24, of: day) + 2 * Self.minute
        try stages.flow(hearsObserver: false)
        #expect(try final(stages) == [])
        // This heartbeat was sent before 00:01 and received after it, so it says nothing about changes in between.
        for _ in 0..<2 { try stages.consolidator.turn { try stages.consolidator.stage.receive(spoken, $0) } }
        #expect(try final(stages) == [])
        try stages.flow()
        #expect(try final(stages) == [day.description])
    }

    @Test func whileAnImportIsOpenNothingTurnsFinal() throws {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let day = LocalDay(year: 2025, month: 3, day: 27)
        let stages = try stages("Europe/Berlin", [day], now: zones.hour(23, of: day))
        stages.now = zones.hour(24, of: day) + 2 * Self.minute
        for _ in 0..<3 {
            try stages.consolidator.hear(beat("observer", stages.observer.store.head, details: ["importOpen": true]))
        }
        #expect(try final(stages) == [])
        try stages.flow()
        #expect(try final(stages) == [day.description])
    }

    /// A second stack copies the first stack's history in the order in which the first one learned of it, often type by
    /// type. Until the copy is complete, days in the second stack lack some types.
    @Test func whileAnotherStackIsCopiedNothingTurnsFinal() throws {
        let day = LocalDay(year: 2025, month: 3, day: 26)
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let stages = try LinkedStages(now: zones.hour(12, of: day.adding(days: 3)), follows: ["test"])
        let rig = try FollowRig(here: stages.observer)
        try rig.push((0..<12).map { FollowRig.pulse($0) })
        try rig.push((20..<32).map { IngestRig.steps($0) })
        // Ten samples at a time; the first ten are all heart rates.
        _ = try rig.step()
        try stages.flow()
        #expect(try stages.days().keys.sorted() == [day.description] && final(stages) == [])
        #expect(try stages.days()[day.description]?["steps"].double == nil)

        // While the first stack is away, and after a crash.
        rig.token = "another"
        _ = try rig.step()
        try stages.observer.restart()
        stages.now = zones.hour(12, of: day.adding(days: 5))
        try stages.flow()
        #expect(try final(stages) == [])

        rig.token = "good"
        try rig.catchUp()
        try stages.flow()
        #expect(try final(stages) == [day.description])
        let whole = try #require(try stages.days()[day.description])
        #expect(whole["steps"].double == 144 && whole["revision"] == 1)
    }
}
