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
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
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

    private var owner: String { String(rig.store.store.prefix(8)) }

    private static let annas = "homeassistant/sensor/healthbus/anna--steps/config"
    private static let mark = #"{"origin": {"name": "healthbus"}}"#

    private func hear(_ topic: String, _ payload: String, retained: Bool = false) throws {
        try news(.heard([Heard(topic: topic, payload: payload, isRetained: retained)]))
    }

    private func isPaused() throws -> Bool { try rig.report().details["paused"] == true }

    private func news(_ news: BrokerNews) throws { try rig.reply(session, news) }

    /// - Parameter retained: the messages that the broker retains.
    private func connect(_ retained: [(String, String)] = []) throws {
        try connect(session, retained)
    }

    private func connect(_ session: Effect, _ retained: [(String, String)]) throws {
        try rig.reply(session, BrokerNews.connected)
        for (topic, payload) in retained {
            try rig.reply(session, BrokerNews.heard([Heard(topic: topic, payload: payload, isRetained: true)]))
        }
        #expect(posts.isEmpty)
        try rig.reply(session, BrokerNews.looked)
    }

    private func reconnect(_ retained: [(String, String)] = []) throws {
        try connect(try #require(rig.effects.first { $0.request is KeepConnected }), retained)
    }

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
        try connect()
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

    /// While the clock is ahead, days that no sensor shows are left out; once it is right, they are read again, also if
    /// the process ended in between.
    @Test(arguments: [false, true]) func aClockThatWasAheadBringsTheDaysBack(restarts: Bool) throws {
        try begin()
        try settle()
        rig.now += .seconds(30 * 86_400)
        try summaries([row(4, Self.day.adding(days: 29), steps: 7)], through: 4)
        try settle()
        rig.now += .seconds(-30 * 86_400)
        if restarts {
            try rig.restart()
            try connect(try #require(rig.effects.first { $0.request is KeepConnected }), [])
            try rig.hear(beat("observer", head(1)))
        }
        try rig.hear(beat("consolidator", head(4)))
        let pull = try #require(rig.pulls.first { $0.producer == "consolidator" })
        try rig.answer(pull, .reset(head(4)))
        try settle()
        try summaries(
            [row(2, Self.day.adding(days: -1), steps: 9000), row(3, Self.day, steps: 400)], through: 4)
        #expect(try steps(Self.today).int == 400 && steps(Self.yesterday).int == 9000)
        try settle()
        #expect(try rig.report().frontier["consolidator"] == 4)
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
        try connect()
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
        // Its acknowledgement, if it comes at all, means nothing anymore.
        try rig.reply(lost, Published())
        #expect(try rig.report().frontier["consolidator"] == 0)
        try connect()
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

    /// Home Assistant forgets people's settings for a sensor that is removed.
    @Test func nothingIsRemovedBeforeAllHasBeenRead() throws {
        try connect([(Self.annas, Self.mark)])
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
        #expect(emptied == [Self.annas])
    }

    @Test func otherProgramsMessagesStay() throws {
        try begin()
        try settle()
        try hear(Self.annas, #"{"origin": {"name": "zigbee2mqtt"}}"#, retained: true)
        try hear("healthbus/kitchen/today", "21.5", retained: true)
        try hear("healthbus/kitchen/today", "21.5")
        #expect(posts.isEmpty)
        try hear("healthbus/anna/today", #"{"stack": "\#(owner)"}"#, retained: true)
        #expect(posts == [.init(topic: "healthbus/anna/today", payload: "")])
    }

    /// If nothing is left to show, only the file still records that there was something to remove.
    @Test func aRemovalOutlivesTheProcess() throws {
        try begin()
        try settle()
        try summaries(
            [row(4, Self.day, steps: nil), row(5, Self.day.adding(days: -1), steps: nil)], through: 5)
        #expect(try rig.report().frontier["consolidator"] == 3)
        try rig.restart()
        let session = try #require(rig.effects.first { $0.request is KeepConnected })
        try connect(session, [(Self.annas, Self.mark)])
        try rig.hear(beat("observer", head(1)))
        try rig.hear(beat("consolidator", head(5)))
        var emptied: [String] = []
        while !posts.isEmpty {
            emptied += posts.filter(\.payload.isEmpty).map(\.topic)
            try acknowledge()
        }
        #expect(emptied == [Self.annas])
    }

    /// Home Assistant forgets people's settings for a sensor that is removed.
    @Test func aPersonWithOnlyOldDaysStays() throws {
        try begin()
        try settle()
        let old = Self.day.adding(days: -400)
        try summaries(
            [
                row(4, Self.day, steps: nil), row(5, old, steps: 1), row(6, Self.day.adding(days: -1), steps: nil),
            ], through: 6)
        while !posts.isEmpty {
            #expect(posts.allSatisfy { !$0.payload.isEmpty })
            try acknowledge()
        }
        try rig.restart()
        try reconnect()
        #expect(posts.contains { $0.topic == "homeassistant/sensor/healthbus/me--steps/config" })
        try rig.hear(beat("observer", head(1)))
        try rig.hear(beat("consolidator", head(6)))
        try settle()
        try summaries([row(7, old, steps: nil)], through: 7)
        #expect(!posts.isEmpty && posts.allSatisfy { $0.payload.isEmpty })
    }

    @Test func whatSomebodyClearsIsSentAgainButNotInARace() throws {
        try begin()
        let description = try #require(posts.first { $0.topic.hasSuffix("me--steps/config") })
        let today = try #require(posts.first { $0.topic == Self.today })
        try settle()
        // The broker sends our own messages back to us.
        try hear(today.topic, today.payload)
        #expect(posts.isEmpty)
        try hear(description.topic, "")
        #expect(posts == [description])
        try settle()
        try hear(description.topic, "nonsense")
        #expect(posts.isEmpty)
        #expect(try #require(rig.deadline) <= rig.monotonic + .seconds(10))
        try rig.pass(.seconds(10))
        #expect(posts == [description])
    }

    @Test func anotherStackUnderTheSameTopicIsReported() throws {
        try begin()
        let description = try #require(posts.first { $0.topic.hasSuffix("me--steps/config") })
        try settle()
        try hear("healthbus/anna/today", #"{"stack": "\#(owner)"}"#)
        #expect(try !isPaused())
        try settle()
        try hear("healthbus/anna/today", #"{"stack": "another"}"#)
        #expect(try isPaused() && rig.log.count("upload.paused") == 1)
        // Neither stack removes the other's sensors or resends its own.
        try hear(Self.annas, Self.mark, retained: true)
        try hear(description.topic, #"{"origin": {"name": "healthbus"}, "name": "x"}"#)
        try rig.pass(.seconds(11))
        #expect(posts.isEmpty)
        // Figures still arrive.
        try summaries([row(4, Self.day, steps: 401)], through: 4)
        #expect(posts.map(\.topic) == [Self.today])
        try settle()
        #expect(try rig.report().frontier["consolidator"] == 4)
    }

    private static let others = [
        ("healthbus/status", "online"), ("healthbus/me/today", #"{"stack": "another"}"#), (annas, mark),
    ]

    /// Connects to a broker where another stack is online, with a day to show.
    private func beginSecond() throws {
        try connect(Self.others)
        try zones()
        try summaries([row(2, Self.day, steps: 1)], through: 2)
    }

    @Test func aStackThatWasThereFirstKeepsItsFigures() throws {
        try beginSecond()
        #expect(try isPaused() && rig.log.count("upload.paused") == 1)
        #expect(posts.isEmpty)
        #expect(try rig.report().frontier["consolidator"] == 0)
        // The other stack corrects our stack's last will, or is restarted.
        try hear("healthbus/status", "offline")
        try rig.pass(.seconds(100))
        try hear("healthbus/status", "online")
        try rig.pass(.seconds(100))
        #expect(try isPaused() && posts.isEmpty)
    }

    @Test func aStackTakesOverOnceTheFirstOneIsGone() throws {
        try beginSecond()
        try hear("healthbus/status", "offline")
        try rig.pass(.seconds(120))
        try rig.hear(beat("consolidator", head(2)))
        #expect(try !isPaused())
        #expect(try steps(Self.today).int == 1)
    }

    @Test func aStackTakesOverOnceTheFirstOnesMessagesAreCleared() throws {
        try beginSecond()
        try hear(Self.today, "")
        #expect(try !isPaused())
        #expect(try steps(Self.today).int == 1)
    }

    /// Another stack came second without yielding, and then left.
    @Test func anotherStackThatLeavesIsForgotten() throws {
        try begin()
        try settle()
        try rig.pass(.seconds(120))
        try hear("healthbus/anna/today", #"{"stack": "another"}"#)
        #expect(try isPaused())
        try hear("healthbus/status", "offline")
        try rig.pass(.seconds(120))
        #expect(try !isPaused())
    }

    @Test func whatAStackThatIsGoneLeftIsRemoved() throws {
        try begin()
        try settle()
        try hear("healthbus/status", "offline", retained: true)
        try hear("healthbus/anna/today", #"{"stack": "another"}"#, retained: true)
        #expect(try !isPaused())
        #expect(posts == [.init(topic: "healthbus/anna/today", payload: "")])
    }

    @Test func aBrokerThatDropsEachConnectionIsLoggedOnceAndAlerted() throws {
        try begin()
        try settle()
        for _ in 0..<61 {
            try news(.lost(.connection("lost"), retryAfter: 15))
            rig.effects = []
            try rig.pass(.seconds(15))
            try connect()
        }
        #expect(rig.log.count("upload.retry") == 1 && rig.log.count("alert.raised") == 1)
        try rig.hear(beat("consolidator", head(3)))
        try settle()
        let details = try rig.report().details
        #expect(details["blocked"] ?? .null == .null)
        #expect(rig.log.count("alert.cleared") == 0)
        try rig.pass(.seconds(60))
        try settle()
        #expect(rig.log.count("alert.cleared") == 1)
    }

    /// The alert is raised no matter why the broker can't be reached.
    @Test func silenceFromTheStartIsAlerted() throws {
        try rig.turn()
        #expect(try #require(rig.deadline) <= rig.monotonic + .seconds(900))
        try rig.pass(.seconds(900))
        #expect(rig.log.count("alert.raised") == 1)
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
        let reported = try #require(try rig.report().details["paused"])
        #expect(reported == true)
        try news(.lost(.refused(5, "not authorised"), retryAfter: 2))
        #expect(rig.log.count("upload.paused") == 1)
    }
}
