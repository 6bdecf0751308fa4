import Changelog
import Configuration
import Foundation
import HealthModel
import HomeAssistantStage
import MQTT
import MessageBus
import Protocol
import StageKit
import TestSupport
import Testing

@Suite struct HomeAssistantStageTests {
    private static let topics = MQTTTopics(base: "healthbus", discoveryPrefix: "homeassistant")
    private static let today = "healthbus/me/today"
    private static let yesterday = "healthbus/me/yesterday"
    /// The rig's clock begins on this day at 11:00.
    private static let day = LocalDay(year: 2025, month: 3, day: 27)

    private let rig: StageRig<HomeAssistantStage>
    private let session: Effect

    init() throws {
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
        let catalog = try PluginCatalog(folder: root + "/plugins", programs: "/nowhere")
        let figures = try StackConfiguration(path: nil, catalog: catalog).handlers.map(\.manifest).figures
        let discovery = Discovery(topics: Self.topics, sensors: figures.compactMap { FigureSensor($0) })
        rig = try StageRig {
            HomeAssistantStage(
                observer: "observer", handlers: ["sleep"], consolidator: "consolidator", instance: "home-assistant",
                discovery: discovery, people: nil)
        }
        session = try #require(rig.effects.first { $0.request is KeepConnected })
    }

    private func news(_ news: BrokerNews) throws { try rig.reply(session, news) }

    private func zones(through sequence: Int64 = 1) throws {
        try rig.hear(beat("observer", head(sequence)))
        let pull = try #require(rig.pulls.first { $0.name == "zones" })
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        try rig.answer(
            pull,
            .pages([
                [
                    "zones": ["me": zones.wireValue], "from": 0, "through": .integer(sequence),
                    "head": Value(head(sequence)),
                ]
            ]))
    }

    private func row(_ sequence: Int64, _ day: LocalDay, steps: Int64?) -> Value {
        KeyedChangelog.Row(
            sequence: SequenceNumber(sequence), key: "day/me/\(day)", topic: "daily.summary", user: "me",
            day: day.number,
            body: steps.map { ["steps": .integer($0), "final": false, "revision": 0, "zone": "Europe/Berlin"] }
        ).wireValue
    }

    private func summaries(_ rows: [Value], through sequence: Int64) throws {
        try rig.hear(beat("consolidator", head(sequence)))
        let pull = try #require(rig.pulls.first { $0.producer == "consolidator" })
        try rig.answer(
            pull,
            .pages([["rows": .array(rows), "through": .integer(sequence), "head": Value(head(sequence))]]))
    }

    /// What is being published, if anything.
    private var posts: [BrokerBoard.Post] {
        rig.effects.compactMap { ($0.request as? Publish)?.posts }.first ?? []
    }

    private func acknowledge() throws {
        let effect = try #require(rig.effects.first { $0.request is Publish })
        try rig.reply(effect, Published())
    }

    /// Acknowledges until there is nothing left to publish.
    private func settle() throws {
        while !posts.isEmpty { try acknowledge() }
    }

    private func steps(_ topic: String) throws -> Value {
        let post = try #require(posts.first { $0.topic == topic }, "\(posts.map(\.topic))")
        return try Value(json: Array(post.payload.utf8))["figures"]["steps"]
    }

    private func begin() throws {
        try news(.connected)
        try zones()
        try summaries(
            [row(2, Self.day.adding(days: -1), steps: 9000), row(3, Self.day, steps: 400)], through: 3)
        // The first message said that the stack isn't ready.
        while !posts.contains(where: { $0.topic == Self.today }) { try acknowledge() }
    }

    @Test func theAnchorMovesOnceAllIsAcknowledged() throws {
        try begin()
        #expect(try steps(Self.today).int == 400 && steps(Self.yesterday).int == 9000)
        #expect(posts.contains { $0.topic == "homeassistant/sensor/healthbus/me--steps/config" })
        #expect(posts.last == .init(topic: "healthbus/status", payload: "online"))
        #expect(try rig.report().frontier["consolidator"] == 0)
        try settle()
        #expect(try rig.report().frontier["consolidator"] == 3 && rig.report().frontier["observer"] == 1)
        try rig.restart()
        try rig.hear(beat("consolidator", head(3)))
        #expect(!rig.pulls.contains { $0.producer == "consolidator" })
    }

    @Test func whatWasNotAcknowledgedIsReadAgain() throws {
        try begin()
        try rig.restart()
        try rig.hear(beat("consolidator", head(3)))
        let pull = try #require(rig.pulls.first { $0.producer == "consolidator" })
        #expect(pull.query["after"] ?? 0 == 0)
    }

    @Test func oneCorrectedDayIsOneMessage() throws {
        try begin()
        try settle()
        try summaries([row(4, Self.day, steps: 401)], through: 4)
        #expect(posts.map(\.topic) == [Self.today])
        #expect(try steps(Self.today).int == 401)
        try settle()
        try summaries([row(5, Self.day.adding(days: -400), steps: 7)], through: 5)
        #expect(posts.isEmpty)
        #expect(try rig.report().frontier["consolidator"] == 5)
    }

    @Test func atMidnightTodayIsUnknownAndYesterdayIsWhatTodayWas() throws {
        try begin()
        try settle()
        // 23:00 UTC is midnight in Berlin in winter. The consolidator keeps reporting that it is running.
        try rig.pass(.seconds(12 * 3600 + 59 * 60))
        try rig.hear(beat("consolidator", head(3)))
        try settle()
        #expect(try #require(rig.deadline) <= rig.monotonic + .seconds(60))
        try rig.pass(.seconds(60))
        #expect(Set(posts.map(\.topic)).isSuperset(of: [Self.today, Self.yesterday]))
        #expect(try steps(Self.today).isNull && steps(Self.yesterday).int == 400)
    }

    @Test func aBrokerThatComesBackGetsEverything() throws {
        try begin()
        let all = posts.count
        try settle()
        try news(.lost(.connection("gone"), retryAfter: 1))
        #expect(posts.isEmpty)
        #expect(try rig.report().frontier["consolidator"] == 3)
        try summaries([row(4, Self.day, steps: 500)], through: 4)
        #expect(try rig.report().frontier["consolidator"] == 3)
        try news(.connected)
        #expect(posts.count == all)
        #expect(try steps(Self.today).int == 500)
        try settle()
        try news(.born)
        #expect(posts.count == all)
    }

    @Test func whatWasOnItsWayIsSentAgain() throws {
        try begin()
        let lost = try #require(rig.effects.first { $0.request is Publish })
        try news(.lost(.connection("gone"), retryAfter: 1))
        rig.effects = []
        // Its acknowledgement, if it comes at all, means nothing now.
        try rig.reply(lost, Published())
        #expect(try rig.report().frontier["consolidator"] == 0)
        try news(.connected)
        #expect(posts.contains { $0.topic == Self.today })
    }

    @Test func aPersonWithoutDaysIsRemoved() throws {
        try begin()
        try settle()
        try summaries(
            [row(4, Self.day, steps: nil), row(5, Self.day.adding(days: -1), steps: nil)], through: 5)
        #expect(!posts.isEmpty && posts.allSatisfy { $0.payload.isEmpty })
        #expect(posts.contains { $0.topic == "homeassistant/sensor/healthbus/me--steps/config" })
    }

    /// Home Assistant forgets what people set up for a sensor that is removed.
    @Test func nothingIsRemovedBeforeAllHasBeenRead() throws {
        try news(.connected)
        try news(.found(["homeassistant/sensor/healthbus/anna--steps/config"]))
        try zones()
        while !posts.isEmpty {
            #expect(posts.allSatisfy { !$0.payload.isEmpty })
            try acknowledge()
        }
        try summaries([row(2, Self.day, steps: 1)], through: 2)
        var emptied: [String] = []
        while !posts.isEmpty {
            emptied += posts.filter(\.payload.isEmpty).map(\.topic)
            try acknowledge()
        }
        #expect(emptied == ["homeassistant/sensor/healthbus/anna--steps/config"])
    }

    @Test func withoutFiguresBeingMadeSensorsAreUnavailable() throws {
        try begin()
        try settle()
        try rig.pass(.seconds(61))
        #expect(posts == [.init(topic: "healthbus/status", payload: "offline")])
        try settle()
        try rig.hear(beat("consolidator", head(3)))
        #expect(posts == [.init(topic: "healthbus/status", payload: "online")])
    }

    @Test func aRefusedPasswordNeedsAPerson() throws {
        try news(.lost(.refused(5, "not authorised"), retryAfter: 1))
        #expect(rig.log.count("upload.paused") == 1)
        let told = try #require(try rig.report().details["paused"])
        #expect(told == true)
        try news(.lost(.refused(5, "not authorised"), retryAfter: 2))
        #expect(rig.log.count("upload.paused") == 1)
    }
}
