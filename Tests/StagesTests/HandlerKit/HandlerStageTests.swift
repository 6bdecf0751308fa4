import Changelog
import Configuration
import Foundation
import HandlerKit
import HealthModel
import MessageBus
import Protocol
import StageKit
import Synchronization
import TestSupport
import Testing

/// A handler that lets the test compute each day.
private struct CountingHandler: DayHandler {
    struct Broken: Error {}

    let version: Int
    let count: @Sendable (DayInput) throws -> DayOutput

    func compute(_ input: DayInput) throws -> DayOutput { try count(input) }
}

@Suite struct HandlerStageTests {
    private static let day = LocalDay(year: 2025, month: 3, day: 26)
    private let zones: ZoneTimeline

    init() throws { zones = try ZoneTimeline(zone: "Europe/Berlin") }

    private func rig(
        _ compute: @escaping @Sendable (DayInput) throws -> DayOutput = { _ in DayOutput(figures: ["n": 1]) },
        version: @escaping () -> Int = { 1 }, configuration: @escaping () -> Value = { [:] }
    ) throws -> StageRig<HandlerStage> {
        let manifest = try Checkout.manifest("steps")
        return try StageRig {
            HandlerStage(
                instance: "steps", manifest: manifest, configuration: configuration(),
                handler: CountingHandler(version: version(), count: compute), namedTypes: [], observer: "observer")
        }
    }

    private func noon(_ day: LocalDay) -> Instant {
        (zones.ranges(of: day).first?.lowerBound ?? 0) + .seconds(12 * 3600)
    }

    private func sync(_ rig: StageRig<HandlerStage>, _ sequence: Int64, generation: String = "one") throws {
        try rig.hear(
            "sync.steps",
            ["head": Value(head(sequence, generation: generation)), "released": .integer(sequence)])
    }

    /// Answers the pull for changes, listing these days as touched.
    private func touch(
        _ rig: StageRig<HandlerStage>, _ days: [LocalDay], through: Int64, zones: ZoneTimeline? = nil,
        isBulk: Bool = false
    ) throws {
        let pull = try #require(rig.pulls.first { $0.name == "spans" })
        let starts = days.map(noon)
        let page: Value = [
            "users": ["me"], "user": .column(.int32(days.map { _ in 0 })),
            "start": .column(.int64(starts.map(\.microseconds))),
            "end": .column(.int64(starts.map { ($0 + .seconds(1)).microseconds })),
            "zones": ["me": (zones ?? self.zones).wireValue], "from": pull.query["after"] ?? 0,
            "through": .integer(through), "head": Value(head(through)), "bulk": .bool(isBulk),
        ]
        try rig.answer(pull, .pages([page]))
    }

    /// Answers every pull for samples, until the handler asks for none.
    private func slices(_ rig: StageRig<HandlerStage>) throws {
        for _ in 0..<20 {
            guard let pull = rig.pulls.first(where: { $0.name == "slice" }) else { return }
            try rig.answer(pull, .pages([["samples": SamplePage().wireValue]]))
        }
        Issue.record("asks for slices without end")
    }

    private func pending(_ rig: StageRig<HandlerStage>) throws -> Int64? { try rig.report().details["pending"]?.int }

    @Test func computesTouchedDaysNewestFirstAndSaysHowFarItIs() throws {
        let seen = Mutex<[LocalDay]>([])
        let rig = try rig { input in
            seen.withLock { $0.append(input.day) }
            return DayOutput(figures: ["n": 1])
        }
        try sync(rig, 10)
        let days = [Self.day, Self.day.adding(days: 5), Self.day.adding(days: 9)]
        try touch(rig, days, through: 10)
        #expect(try pending(rig) == 3)
        // The handler's outputs don't cover days that are only marked.
        #expect(try rig.report().frontier["observer"] == 0)
        try slices(rig)
        #expect(seen.withLock { $0 } == days.reversed())
        #expect(try pending(rig) == 0 && rig.report().frontier["observer"] == 10)
        #expect(try rig.rows().keys.sorted() == days.map { "figures/me/\($0)" })
        #expect(rig.sent.contains { $0.topic == "figures.steps" })
    }

    /// There is one hint for all days that a turn has computed, with the heads before the first and after the last of
    /// them, and the names of what changed.
    @Test func aTurnHintsOnceAtEachTopic() throws {
        let rig = try rig { input in
            DayOutput(figures: ["n": 1], events: [DayEvent(id: "\(input.day)", kind: "k", payload: [:])])
        }
        try sync(rig, 10)
        try touch(rig, (0..<5).map { Self.day.adding(days: $0) }, through: 10)
        let slice = try #require(rig.pulls.first { $0.name == "slice" })
        rig.sent = []
        let before = rig.store.head.sequence
        try rig.answer(slice, .pages([["samples": SamplePage().wireValue]]))
        #expect(try rig.rows().count == 10)
        #expect(rig.sent.map(\.topic).sorted() == ["events.steps", "figures.steps"])
        let hints = try rig.sent.map { try #require($0.body.read(Hint.self)) }
        #expect(hints.allSatisfy { $0.head == rig.store.head && $0.after == before && $0.more == nil })
        for (sent, hint) in zip(rig.sent, hints) {
            let days = Set((0..<5).map { Self.day.adding(days: $0).number })
            #expect(Set((hint.changed ?? []).compactMap(\.day)) == days && hint.changed?.count == 5)
            #expect(
                hint.changed?.allSatisfy { $0.user == "me" && $0.names == [sent.topic == "events.steps" ? "k" : "n"] }
                    == true)
        }
    }

    /// The days of an import would make hints long: the first are named, and the others counted.
    @Test func aHintNamesTheFirstDaysAndCountsTheOthers() throws {
        let rig = try rig { _ in DayOutput(figures: ["n": 1]) }
        try sync(rig, 10)
        try touch(rig, (0..<40).map { Self.day.adding(days: $0) }, through: 10)
        while let pull = rig.pulls.first(where: { $0.name == "slice" }) {
            try rig.answer(pull, .pages([["samples": SamplePage().wireValue]]))
        }
        let hints = rig.sent.filter { $0.topic == "figures.steps" }.compactMap { $0.body.read(Hint.self) }
        #expect(hints.allSatisfy { ($0.changed?.count ?? 0) <= 8 && (($0.more ?? 0) == 0 || $0.changed?.count == 8) })
        #expect(hints.map { ($0.changed?.count ?? 0) + ($0.more ?? 0) }.reduce(0, +) == 40)
        #expect(hints.contains { ($0.more ?? 0) > 0 })
    }

    /// Days of an infrequent type: since there is little in between, several are fetched and committed together.
    @Test func daysThatHoldLittleAreFetchedTogetherOverGaps() throws {
        let seen = Mutex<[LocalDay]>([])
        let rig = try rig { input in
            seen.withLock { $0.append(input.day) }
            return DayOutput(figures: ["n": 1])
        }
        let days = (0..<60).map { Self.day.adding(days: 3 * $0) }
        try sync(rig, 10)
        try touch(rig, days, through: 10)
        var asked = 0
        while let pull = rig.pulls.first(where: { $0.name == "slice" }) {
            asked += 1
            try #require(asked <= days.count)
            try rig.answer(pull, .pages([["samples": SamplePage().wireValue]]))
        }
        // At first it isn't known how much data a day holds.
        #expect((6...20).contains(asked))
        // Each day is computed once, newest first, except for those that an earlier slice already covered.
        #expect(seen.withLock { $0.sorted() } == days)
        #expect(try pending(rig) == 0 && rig.report().frontier["observer"] == 10)
    }

    /// Days with much data are fetched one run of days at a time, without the days in between.
    @Test func daysThatHoldMuchAreFetchedApart() throws {
        let rig = try rig()
        try sync(rig, 10)
        try touch(rig, [Self.day, Self.day.adding(days: 2)], through: 10)
        let spans = try rig.pulls.filter { $0.name == "slice" }.map { pull in
            try (#require(pull.integer("from")), #require(pull.integer("to")))
        }
        #expect(spans.count == 2)
        #expect(spans.allSatisfy { $1 - $0 < 2 * 86_400_000_000 })
    }

    @Test func marksOutliveARestart() throws {
        let rig = try rig()
        try sync(rig, 10)
        try touch(rig, [Self.day], through: 10)
        try rig.restart()
        #expect(try pending(rig) == 1 && rig.report().frontier["observer"] == 0)
        try sync(rig, 10)
        try slices(rig)
        #expect(try pending(rig) == 0 && rig.report().frontier["observer"] == 10)
    }

    @Test func aDayThatChangesWhileItIsComputedIsComputedAgain() throws {
        let count = Mutex(0)
        let rig = try rig { _ in
            DayOutput(figures: [
                "n": .integer(
                    Int64(
                        count.withLock {
                            $0 += 1; return $0
                        }))
            ])
        }
        try sync(rig, 10)
        try touch(rig, [Self.day], through: 10)
        let slice = try #require(rig.pulls.first { $0.name == "slice" })
        #expect(slice.query["asOf"] == 10)
        // The samples are already on their way when the day changes again.
        try sync(rig, 12)
        try touch(rig, [Self.day], through: 12)
        try rig.answer(slice, .pages([["samples": SamplePage().wireValue]]))
        #expect(try pending(rig) == 1)
        #expect(try rig.report().frontier["observer"] == 0)
        let again = try #require(rig.pulls.first { $0.name == "slice" })
        #expect(again.query["asOf"] == 12)
        try slices(rig)
        #expect(try pending(rig) == 0 && count.withLock { $0 } == 2)
    }

    @Test func aLongSliceGoesOnWhereItEnded() throws {
        let rig = try rig()
        try sync(rig, 10)
        try touch(rig, [Self.day], through: 10)
        let slice = try #require(rig.pulls.first { $0.name == "slice" })
        try rig.answer(slice, .pages([["samples": SamplePage().wireValue, "continue": ["start": 5, "id": "x"]]]))
        #expect(try pending(rig) == 1)
        let rest = try #require(rig.pulls.first { $0.name == "slice" })
        #expect(rest.query["continue"] == ["start": 5, "id": "x"])
        #expect(rest.query["asOf"] == slice.query["asOf"])
        try slices(rig)
        #expect(try pending(rig) == 0)
    }

    @Test func aNewTimelineComputesTheDaysAroundAgain() throws {
        let rig = try rig()
        try sync(rig, 10)
        try touch(rig, [Self.day, Self.day.adding(days: 10)], through: 10)
        try slices(rig)
        // From noon on the day before the later day, the person is in another zone: this changes the day before, and
        // all days that may have samples after that noon.
        let moved = try ZoneTimeline(
            zones.entries + [.init(from: noon(Self.day.adding(days: 9)), zone: "America/New_York")])
        try sync(rig, 11)
        try touch(rig, [], through: 11, zones: moved)
        let asked = try #require(rig.pulls.first { $0.name == "slice" })
        #expect(try pending(rig) == 4)
        let from = try #require(asked.integer("from"))
        #expect(from > noon(Self.day.adding(days: 6)).microseconds)
        try slices(rig)
        #expect(try pending(rig) == 0 && rig.report().frontier["observer"] == 11)
    }

    /// A stay has an end: later days remain unchanged.
    @Test func aStayComputesOnlyItsDaysAgain() throws {
        let seen = Mutex<[LocalDay]>([])
        let rig = try rig { input in
            seen.withLock { $0.append(input.day) }
            return DayOutput(figures: ["n": 1])
        }
        try sync(rig, 10)
        try touch(rig, (0..<20).map { Self.day.adding(days: $0) }, through: 10)
        try slices(rig)
        seen.withLock { $0 = [] }
        let stay = try ZoneTimeline(
            zones.entries + [
                .init(from: noon(Self.day.adding(days: 9)), zone: "America/New_York"),
                .init(from: noon(Self.day.adding(days: 11)), zone: "Europe/Berlin"),
            ])
        try sync(rig, 11)
        try touch(rig, [], through: 11, zones: stay)
        try slices(rig)
        #expect(seen.withLock { $0.sorted() } == (9...11).map { Self.day.adding(days: $0) })
    }

    /// With the new zones, samples of a waiting day may belong to another day.
    @Test func aNewTimelineAlsoMarksBesideDaysThatWait() throws {
        let rig = try rig()
        try sync(rig, 10)
        try touch(rig, [Self.day], through: 10)
        #expect(try pending(rig) == 1)
        try sync(rig, 11)
        try touch(rig, [], through: 11, zones: try ZoneTimeline(zone: "Asia/Tokyo"))
        #expect(try pending(rig) == 5)
    }

    @Test func anotherVersionOrConfigurationComputesEverythingAgain() throws {
        let version = Mutex(1)
        let configuration = Mutex<Value>([:])
        let rig = try rig(version: { version.withLock { $0 } }, configuration: { configuration.withLock { $0 } })
        try sync(rig, 10)
        try touch(rig, [Self.day, Self.day.adding(days: 3)], through: 10)
        try slices(rig)
        try rig.restart()
        #expect(try pending(rig) == 0)
        version.withLock { $0 = 2 }
        try rig.restart()
        #expect(try pending(rig) == 2 && rig.report().frontier["observer"] == 0)
        // Samples are reported again too: a day that had no figures may have some now.
        try sync(rig, 10)
        let again = try #require(rig.pulls.first { $0.name == "spans" })
        #expect(again.query["after"] == 0)
        try touch(rig, [Self.day, Self.day.adding(days: 3), Self.day.adding(days: 4)], through: 10)
        try slices(rig)
        #expect(try pending(rig) == 0 && rig.report().frontier["observer"] == 10)
        #expect(try rig.rows().count == 3)
        configuration.withLock { $0 = ["sourceOrder": ["a": ["Watch"]]] }
        try rig.restart()
        #expect(try pending(rig) == 3)
    }

    /// "Synced" says when samples last arrived: reading old ones again, with other options, isn't an arrival, and
    /// moves only "checked".
    @Test func whatIsReadAgainHasNotArrived() throws {
        let version = Mutex(1)
        let rig = try rig(version: { version.withLock { $0 } })
        func synced() throws -> Value { try rig.report().details["lastSynced"] ?? .null }
        func checked() throws -> Value { try rig.report().allDetails["lastChecked"] ?? .null }
        #expect(try synced().isNull && checked().isNull)
        try sync(rig, 10)
        try touch(rig, [Self.day], through: 10)
        try slices(rig)
        let first = try synced()
        #expect(try !first.isNull && checked() == first)
        version.withLock { $0 = 2 }
        rig.now = rig.now + .seconds(60)
        try rig.restart()
        try sync(rig, 10)
        try touch(rig, [Self.day], through: 10)
        try slices(rig)
        #expect(try synced() == first && checked() == Value(rig.now))
        rig.now = rig.now + .seconds(60)
        try sync(rig, 12)
        try touch(rig, [Self.day], through: 12)
        #expect(try synced() != first)
    }

    @Test func aDayThatFailsIsTriedThreeTimesThenLeftOut() throws {
        let tries = Mutex(0)
        let isBroken = Mutex(true)
        let rig = try rig { input in
            if input.day == Self.day, isBroken.withLock({ $0 }) {
                tries.withLock { $0 += 1 }
                throw CountingHandler.Broken()
            }
            return DayOutput(figures: ["n": 1])
        }
        try sync(rig, 10)
        try touch(rig, [Self.day, Self.day.adding(days: 4)], through: 10)
        try slices(rig)
        #expect(tries.withLock { $0 } == 3)
        // The failed day holds nothing up, but is counted.
        #expect(try pending(rig) == 0 && rig.report().frontier["observer"] == 10)
        #expect(try rig.report().details["failedDays"] == 1)
        func days() throws -> Int { try rig.rows().values.count { !$0.topic.hasPrefix("alert.") } }
        func isReported() throws -> Bool {
            try rig.rows().values.contains { $0.topic == Alert.topic(.failedDays) && $0.body != nil }
        }
        #expect(try days() == 1 && isReported())
        // After its data has changed, the day gets three more tries, and is still counted only once.
        try sync(rig, 12)
        try touch(rig, [Self.day], through: 12)
        try slices(rig)
        #expect(tries.withLock { $0 } == 6)
        #expect(try rig.report().details["failedDays"] == 1)
        isBroken.withLock { $0 = false }
        try sync(rig, 14)
        try touch(rig, [Self.day], through: 14)
        try slices(rig)
        #expect(try rig.report().details["failedDays"] == 0 && days() == 2 && !isReported())
    }

    /// The event itself stays as it is; only the day it belongs to changes.
    @Test(arguments: [-1, 1])
    func anEventMovesBetweenDays(_ step: Int) throws {
        let place = Mutex(Self.day)
        let rig = try rig { input in
            input.day == place.withLock { $0 }
                ? DayOutput(figures: ["n": 1], events: [DayEvent(id: "e", kind: "night", payload: ["x": 1])])
                : DayOutput(figures: ["n": 1])
        }
        let other = Self.day.adding(days: step)
        try sync(rig, 10)
        try touch(rig, [Self.day, other], through: 10)
        try slices(rig)
        #expect(try rig.rows()["event/me/e"]?.day == Self.day.number)
        place.withLock { $0 = other }
        try sync(rig, 12)
        try touch(rig, [Self.day, other], through: 12)
        try slices(rig)
        let event = try #require(try rig.rows()["event/me/e"])
        #expect(event.day == other.number && event.body?["event"] == ["x": 1])
    }

    @Test func whatADayNoLongerHasIsTakenBack() throws {
        let isThere = Mutex(true)
        let rig = try rig { _ in
            isThere.withLock { $0 }
                ? DayOutput(figures: ["n": 1], events: [DayEvent(id: "e", kind: "night", payload: [:])]) : DayOutput()
        }
        try sync(rig, 10)
        try touch(rig, [Self.day], through: 10)
        try slices(rig)
        isThere.withLock { $0 = false }
        try sync(rig, 12)
        try touch(rig, [Self.day], through: 12)
        try slices(rig)
        #expect(try rig.rows().mapValues(\.body) == ["event/me/e": nil, "figures/me/\(Self.day)": nil])
    }

    @Test func anUpstreamThatBeginsAgainMarksAllDays() throws {
        let rig = try rig()
        try sync(rig, 10)
        try touch(rig, [Self.day], through: 10)
        try slices(rig)
        try sync(rig, 500, generation: "two")
        let asked = try #require(rig.pulls.first { $0.name == "spans" })
        try rig.answer(asked, .reset(head(500, generation: "two")))
        #expect(try pending(rig) == 1 && rig.report().frontier["observer"] == 0)
        // A slice request from before the reset doesn't fit the new store.
        #expect(!rig.pulls.contains { $0.name == "slice" })
    }

    @Test(arguments: [(bulk: false, hours: 2, raised: true), (true, 2, false), (false, 25, false)])
    func aWorkoutThatHasJustEndedIsNews(_ news: (bulk: Bool, hours: Int64, raised: Bool)) throws {
        let end = noon(Self.day) + .seconds(3600)
        let rig = try rig { _ in
            DayOutput(events: [
                DayEvent(id: "w", kind: "workout", payload: ["endDate": .string(InstantText.iso8601(end))])
            ])
        }
        rig.now = end + .seconds(news.hours * 3600)
        try sync(rig, 5)
        try touch(rig, [Self.day], through: 5, isBulk: news.bulk)
        try slices(rig)
        let key = "alert/workout-recorded/w"
        #expect(try (rig.rows()[key]?.body != nil) == news.raised)
        // A workout that is reported again is still the same workout; a day later, it is no longer news.
        try sync(rig, 6)
        try touch(rig, [Self.day], through: 6)
        try slices(rig)
        #expect(try (rig.rows()[key]?.body != nil) == news.raised)
        try rig.pass(.seconds(25 * 3600))
        #expect(try rig.rows()[key]?.body == nil)
    }
}
