import Changelog
import Configuration
import HandlerKit
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit
import Synchronization
import TestSupport
import Testing

private struct OneEventHandler: DayHandler {
    let version = 1
    let events: @Sendable () -> [DayEvent]

    func compute(_ input: DayInput) throws -> DayOutput { DayOutput(figures: ["n": 1], events: events()) }
}

/// Rows have the instance's name in their topics, whichever plugin makes them, and a key stands for one event.
@Suite struct HandlerTopicsTests {
    private static let day = LocalDay(year: 2025, month: 3, day: 26)
    private let zones: ZoneTimeline

    init() throws { zones = try ZoneTimeline(zone: "Europe/Berlin") }

    private func rig(_ kind: @escaping @Sendable () -> String) throws -> StageRig<HandlerStage> {
        let manifest = try Checkout.manifest("steps")
        return try StageRig {
            HandlerStage(
                instance: "sleep", manifest: manifest, configuration: [:],
                handler: OneEventHandler { [DayEvent(id: "1", kind: kind(), payload: [:])] }, namedTypes: [],
                observer: "observer")
        }
    }

    /// Has the day computed.
    private func compute(_ rig: StageRig<HandlerStage>, through: Int64) throws {
        try rig.hear("sync.sleep", ["head": Value(head(through)), "released": .integer(through)])
        let pull = try #require(rig.pulls.first { $0.name == "spans" })
        let noon = ((zones.ranges(of: Self.day).first?.lowerBound ?? 0) + .seconds(12 * 3600)).microseconds
        let page: Value = [
            "users": ["me"], "user": .column(.int32([0])), "start": .column(.int64([noon])),
            "end": .column(.int64([noon + 1])), "zones": ["me": zones.wireValue],
            "from": pull.query["after"] ?? 0, "through": .integer(through), "head": Value(head(through)),
        ]
        try rig.answer(pull, .pages([page]))
        let slice = try #require(rig.pulls.first { $0.name == "slice" })
        try rig.answer(slice, .pages([["samples": SamplePage().wireValue]]))
    }

    /// Key, topic, and whether it is a tombstone.
    private func rows(_ rig: StageRig<HandlerStage>) throws -> [String] {
        var lines: [String] = []
        try rig.store.database.prepare("SELECT key, topic, body IS NULL FROM changes ORDER BY key").forEachRow {
            lines.append("\($0.string(0)) \($0.string(1))\($0.int(2) == 1 ? " gone" : "")")
        }
        return lines
    }

    @Test func anEventOfAnotherKindIsAnotherEvent() throws {
        let kind = Kind()
        let rig = try rig { kind.name }
        let figures = "figures/me/\(Self.day) figures.sleep"
        try compute(rig, through: 10)
        #expect(try rows(rig) == ["event/me/1 events.sleep", figures])
        for through in [11, 12] {
            kind.name = "workout"
            try compute(rig, through: Int64(through))
            // Its tombstone is sent to the nights, and the other one's to the workouts.
            #expect(
                try rows(rig) == ["event/me/1 events.sleep gone", "event/me/workout/1 events.sleep.workout", figures])
        }
        kind.name = "night"
        try compute(rig, through: 13)
        #expect(
            try rows(rig) == ["event/me/1 events.sleep", "event/me/workout/1 events.sleep.workout gone", figures])
    }

    @Test func rowsOfAnEarlierReleaseGetTheInstancesName() throws {
        let rig = try rig { "night" }
        try rig.store.transaction {
            for (key, topic, kind) in [
                ("event/me/1", "events.mine", "night"), ("event/me/2", "events.mine", "workout"),
                ("event/me/3", "events.mine", "night"),
            ] {
                try rig.changelog.put(
                    key: key, topic: topic, user: "me", day: 3,
                    body: Value(EventBody(id: key, kind: kind, event: [:])))
            }
            try rig.changelog.put(
                key: "figures/me/3", topic: "figures.mine", user: "me", day: 3, body: Value(FiguresBody()))
            try rig.changelog.remove(key: "event/me/3")
        }
        func sequences() throws -> [Int64] {
            var found: [Int64] = []
            try rig.store.database.prepare("SELECT seq FROM changes ORDER BY key").forEachRow {
                found.append($0.int64(0))
            }
            return found
        }
        let before = try sequences()
        try rig.restart()
        #expect(
            try rows(rig) == [
                "event/me/1 events.sleep", "event/me/2 events.sleep.workout", "event/me/3 events.mine gone",
                "figures/me/3 figures.sleep",
            ])
        #expect(try sequences() == before)
    }
}

private final class Kind: Sendable {
    private let value = Mutex("night")
    var name: String {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
