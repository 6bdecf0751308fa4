import Changelog
import Configuration
import HandlerKit
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing

/// A handler whose days are computed outside the stage: what the stage asks for, and what it does with the answers.
@Suite struct ComputedBesideTests {
    private struct Traits: HandlerTraits {
        let version = 1
    }
    private struct Gone: Error {}
    /// Whether the next process to start takes another one's place.
    private final class Start { var takesOver = false }
    private let start = Start()

    private static let day = LocalDay(year: 2025, month: 3, day: 26)
    private let zones: ZoneTimeline
    private let rig: StageRig<HandlerStage>

    init() throws {
        zones = try ZoneTimeline(zone: "Europe/Berlin")
        let manifest = try Checkout.manifest("steps")
        rig = try StageRig { [start] in
            let stage = HandlerStage(
                instance: "steps", manifest: manifest, configuration: [:], computer: .beside(Traits()), namedTypes: [],
                observer: "observer")
            stage.takesOver = start.takesOver
            return stage
        }
    }

    /// These days were touched, and their samples are there.
    private func touch(_ days: [LocalDay], through: Int64) throws {
        try rig.hear("sync.steps", ["head": Value(head(through)), "released": .integer(through)])
        let pull = try #require(rig.pulls.first { $0.name == "spans" })
        let starts = days.map { (zones.ranges(of: $0).first?.lowerBound ?? 0) + .seconds(12 * 3600) }
        let page: Value = [
            "users": ["me"], "user": .column(.int32(days.map { _ in 0 })),
            "start": .column(.int64(starts.map(\.microseconds))),
            "end": .column(.int64(starts.map { ($0 + .seconds(1)).microseconds })), "zones": ["me": zones.wireValue],
            "from": pull.query["after"] ?? 0, "through": .integer(through), "head": Value(head(through)),
        ]
        try rig.answer(pull, .pages([page]))
        try slices()
    }

    private func slices() throws {
        while let pull = rig.pulls.first(where: { $0.name == "slice" }) {
            try rig.answer(pull, .pages([["samples": SamplePage().wireValue]]))
        }
    }

    private var asked: [LocalDay] { rig.effects.compactMap { ($0.request as? DayRequest)?.input.day } }
    private var pending: Int64? { get throws { try rig.report().details["pending"]?.int } }

    private func reply(_ reply: DayReply) throws { try rig.reply(try #require(rig.effects.first), reply) }

    private func figures(_ day: LocalDay) throws -> Value? { try rig.rows()["figures/me/\(day)"]?.body?["figures"] }

    @Test func daysAreAskedForNewestFirstAndTwoAtATime() throws {
        let days = (0..<40).map { Self.day.adding(days: -$0) }
        try touch(days, through: 10)
        #expect(asked == Array(days.prefix(2)))
        #expect(try pending == 40 && rig.report().frontier["observer"] == 0)
        // Slices are fetched for a few days ahead, not for all days.
        #expect(!rig.pulls.contains { $0.name == "slice" })
        var answered: [LocalDay] = []
        while let next = asked.first {
            answered.append(next)
            try reply(.computed(DayOutput(figures: ["n": .string(next.description)])))
            #expect(try figures(next) == ["n": .string(next.description)])
            try slices()
            #expect(asked.count <= 2)
        }
        #expect(answered == days)
        #expect(try pending == 0 && rig.report().frontier["observer"] == 10)
    }

    @Test func aDayThatChangesMeanwhileIsComputedAgain() throws {
        try touch([Self.day], through: 10)
        try touch([Self.day], through: 12)
        // A day isn't computed twice at once: an older answer never arrives after a newer one.
        #expect(asked == [Self.day])
        try reply(.computed(DayOutput(figures: ["n": 1])))
        #expect(try pending == 1 && rig.report().frontier["observer"] == 0)
        try slices()
        #expect(asked == [Self.day])
        try reply(.computed(DayOutput(figures: ["n": 2])))
        #expect(try figures(Self.day) == ["n": 2])
        #expect(try pending == 0 && rig.report().frontier["observer"] == 12)
    }

    @Test func aDayThatFailsIsAskedForThreeTimesThenLeftOut() throws {
        let other = Self.day.adding(days: -1)
        try touch([Self.day, other], through: 10)
        try rig.reply(try #require(rig.effects.last), DayReply.computed(DayOutput(figures: ["n": 1])))
        for attempt in 1...3 {
            #expect(asked == [Self.day], "attempt \(attempt)")
            try reply(.failed("it crashed"))
            try slices()
        }
        #expect(asked.isEmpty)
        #expect(try pending == 0 && rig.report().frontier["observer"] == 10)
        #expect(try rig.report().details["failedDays"] == 1)
        let read = try rig.store.database.prepare("SELECT reason FROM failed_days")
        #expect(try read.firstRow { $0.string(0) } == "it crashed")
        #expect(try figures(other) == ["n": 1] && figures(Self.day) == nil)
    }

    @Test func whatWasAskedBeforeARestartIsAskedAgain() throws {
        try touch([Self.day], through: 10)
        let before = try #require(rig.effects.first)
        try rig.restart()
        // A late answer, meant for the previous process, matches no request.
        try rig.reply(before, DayReply.computed(DayOutput(figures: ["n": 1])))
        #expect(try figures(Self.day) == nil && pending == 1)
        try rig.hear("sync.steps", ["head": Value(head(10)), "released": 10])
        try slices()
        #expect(asked == [Self.day])
    }

    /// The new process may run a different program, even if its version and the days of its trial are the same.
    @Test func whatTakesAnothersPlaceComputesEveryDayAgain() throws {
        try touch([Self.day], through: 10)
        try reply(.computed(DayOutput(figures: ["n": 1])))
        try rig.restart()
        #expect(try pending == 0)
        start.takesOver = true
        try rig.restart()
        #expect(try pending == 1)
        // Its days aren't final, but it lacks no change.
        #expect(try rig.report().frontier["observer"] == 0 && rig.report().details["reached"] == ["observer": 10])
        // The same after a crash.
        start.takesOver = false
        try rig.restart()
        #expect(try rig.report().details["reached"] == ["observer": 10])
        try touch([Self.day], through: 10)
        while !asked.isEmpty {
            try reply(.computed(DayOutput(figures: ["n": 1])))
            try slices()
        }
        #expect(try pending == 0 && rig.report().frontier["observer"] == 10)
        #expect(try rig.report().details["reached"]?.isNull ?? true)
    }

    @Test func figuresOfAStoreThatIsGoneAreNotTaken() throws {
        try touch([Self.day], through: 10)
        try rig.hear("sync.steps", ["head": Value(head(500, generation: "two")), "released": 500])
        let spans = try #require(rig.pulls.first { $0.name == "spans" })
        try rig.answer(spans, .reset(head(500, generation: "two")))
        try reply(.computed(DayOutput(figures: ["n": 1])))
        #expect(try figures(Self.day) == nil && pending == 1)
    }

    @Test func withoutAComputerTheProcessEnds() throws {
        try touch([Self.day], through: 10)
        #expect(throws: Gone.self) { try reply(.unavailable(Gone())) }
    }
}
