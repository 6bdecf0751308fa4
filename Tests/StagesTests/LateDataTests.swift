import Changelog
import HealthModel
import TestSupport
import Testing

/// The effect of late samples and deletions on days that are final.
@Suite struct LateDataTests {
    private static let first = LocalDay(year: 2025, month: 3, day: 26)
    private let stages: LinkedStages

    /// A week in which the clocks go forward, and the two days after it; all days but the last are final.
    init() throws {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        stages = try LinkedStages(now: zones.hour(12, of: Self.first.adding(days: 8)))
        try stages.add((0..<9).flatMap { Self.records(Self.first.adding(days: $0), zones) })
        try stages.flow()
    }

    private static func records(_ day: LocalDay, _ zones: ZoneTimeline) -> [Record] {
        [
            Record(start: zones.hour(8, of: day), length: .seconds(3600), value: 1000),
            Record(start: zones.hour(10, of: day), value: 50),
            Record(
                type: "HKQuantityTypeIdentifierHeartRate", start: zones.hour(9, of: day), length: .zero, value: 60,
                unit: "count/min"),
            Record(
                type: "HKCategoryTypeIdentifierSleepAnalysis", start: zones.hour(1, of: day),
                length: .seconds(5 * 3600), value: 3, unit: ""),
        ]
    }

    private func date(_ index: Int) -> String { Self.first.adding(days: index).description }
    private func hour(_ hour: Double, _ index: Int) -> Instant {
        stages.zones.hour(hour, of: Self.first.adding(days: index))
    }

    private func steps(_ hour: Double, _ index: Int, length: Duration = .seconds(60), source: String = "Watch")
        -> Record
    {
        Record(source: source, start: self.hour(hour, index), length: length, value: 60)
    }

    /// Dates of the days that aren't final, and the revisions of the others, unless they are 1.
    private func state() throws -> (open: Set<String>, revised: [String: Int64]) {
        let days = try stages.days()
        return (
            Set(days.filter { $0.value["final"] == false }.keys),
            days.compactMapValues { $0["final"] == true && $0["revision"] != 1 ? $0["revision"].int : nil }
        )
    }

    @Test func aWeekIsFinalAndTodayIsNot() throws {
        #expect(try stages.days().count == 9)
        let state = try state()
        #expect(state.open == [date(8)] && state.revised == [:])
    }

    @Test func aLateSampleReopensItsDayAlone() throws {
        let before = stages.consolidator.store.sequence
        try stages.add([steps(15, 3)])
        try stages.flow(hearsObserver: false)
        #expect(try stages.delivered(after: before) == [date(3)])
        let open = try #require(try stages.days()[date(3)])
        // The day is open again, with the new figure and the revision it had when final.
        #expect(open["final"] == false && open["steps"].double == 1110 && open["revision"] == 1)
        try stages.flow()
        #expect(try stages.delivered(after: before) == [date(3)])
        #expect(try state().open == [date(8)] && state().revised == [date(3): 2])
        #expect(try stages.days()[date(3)]?["steps"].double == 1110)
    }

    @Test func aLateDeleteReopensItsDayAlone() throws {
        let before = stages.consolidator.store.sequence
        try stages.delete([Self.records(Self.first.adding(days: 5), stages.zones)[1]])
        try stages.flow(hearsObserver: false)
        #expect(try stages.delivered(after: before) == [date(5)])
        #expect(try stages.days()[date(5)]?["final"] == false)
        try stages.flow()
        #expect(try stages.delivered(after: before) == [date(5)])
        #expect(try state().open == [date(8)] && state().revised == [date(5): 2])
        #expect(try stages.days()[date(5)]?["steps"].double == 1000)
    }

    @Test func aSampleAcrossMidnightReopensBothDays() throws {
        let before = stages.consolidator.store.sequence
        // The second of them has 23 hours.
        try stages.add([steps(23.5, 3, length: .seconds(3600))])
        try stages.flow()
        #expect(try stages.delivered(after: before) == [date(3), date(4)])
        #expect(try state().revised == [date(3): 2, date(4): 2])
        #expect(try stages.days()[date(3)]?["steps"].double == 1080 && stages.days()[date(4)]?["steps"].double == 1080)
    }

    /// A night that begins before midnight belongs to the day on which it ends.
    @Test func aLateNightReopensTheDayItEndsOn() throws {
        let before = stages.consolidator.store.sequence
        try stages.add([
            Record(
                type: "HKCategoryTypeIdentifierSleepAnalysis", start: hour(23, 1), length: .seconds(2 * 3600),
                value: 4, unit: "")
        ])
        try stages.flow()
        #expect(try stages.delivered(after: before) == [date(2)])
        #expect(try state().revised == [date(2): 2])
    }

    @Test func unchangedFiguresRaiseNothing() throws {
        let before = stages.consolidator.store.sequence
        // Where the watch has counted, the phone's samples aren't counted.
        try stages.add([steps(8.2, 2, source: "iPhone")])
        try stages.flow()
        #expect(try stages.observer.store.sequence > 0 && stages.delivered(after: before) == [])
        #expect(try state().revised == [:])
    }

    @Test func whatIsTakenBackBeforeTheDayIsFinalAgainRaisesNothing() throws {
        let late = steps(15, 3)
        try stages.add([late])
        try stages.flow(hearsObserver: false)
        #expect(try state().open == [date(3), date(8)])
        try stages.delete([late])
        try stages.flow()
        #expect(try state().open == [date(8)] && state().revised == [:])
        #expect(try stages.days()[date(3)]?["steps"].double == 1050)
    }

    @Test func aDayWithoutSamplesAnyMoreIsGoneAndItsRevisionIsNeverUsedTwice() throws {
        let records = Self.records(Self.first.adding(days: 6), stages.zones)
        try stages.delete(records)
        try stages.flow()
        #expect(try stages.days()[date(6)] == nil)
        // Deleted samples stay deleted: these are different ones.
        try stages.add([steps(20, 6)])
        try stages.flow()
        let day = try #require(try stages.days()[date(6)])
        #expect(day["final"] == true && day["revision"] == 2 && day["steps"].double == 60)
    }

    @Test func aProvisionalDayMayChangeWithoutARevision() throws {
        for (index, hour) in [13.0, 14, 15].enumerated() {
            stages.now = self.hour(hour + 0.5, 8)
            try stages.add([steps(hour, 8)])
            try stages.flow()
            let today = try #require(try stages.days()[date(8)])
            #expect(today["final"] == false && today["revision"] == 0)
            #expect(today["steps"].double == 1050 + 60 * Double(index + 1))
        }
        stages.now = hour(24, 8) + .seconds(60)
        try stages.flow()
        let yesterday = try #require(try stages.days()[date(8)])
        #expect(yesterday["final"] == true && yesterday["revision"] == 1)
    }
}
