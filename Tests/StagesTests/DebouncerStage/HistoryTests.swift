import BackgroundDelivery
import Changelog
import DebouncerStage
import HealthModel
import MessageBus
import Protocol
import StageKit
import TestSupport
import Testing

@Suite struct HistoryTests {
    private static let today = LocalDay(year: 2025, month: 3, day: 27)

    @Test func weeksFromTheNewestToTheOldest() throws {
        var history = History(number: 3, from: Self.today.adding(days: -15), through: Self.today, began: 0)
        var seen: [String] = []
        while let chunk = history.chunk {
            seen.append("\(chunk.id) \(chunk.from) \(chunk.through)")
            let first = history.heard("a", hasDone: chunk.id, of: ["a", "b"])
            #expect(!first)
            // A late message about a different chunk doesn't count for this one.
            let late = history.heard("b", hasDone: "3-0", of: ["a", "b"])
            #expect(!late)
            let all = history.heard("b", hasDone: chunk.id, of: ["a", "b"])
            #expect(all)
        }
        #expect(
            seen == [
                "3-1 2025-03-21 2025-03-27", "3-2 2025-03-14 2025-03-20", "3-3 2025-03-12 2025-03-13",
            ])
        #expect(history.isDone && history.chunks == 3)
    }

    @Test func goesOnWhereItWas() throws {
        var history = History(number: 1, from: Self.today.adding(days: -30), through: Self.today, began: 7)
        _ = history.heard("a", hasDone: "1-1", of: ["a"])
        let again = try #require(History(history.details))
        #expect(again == history && again.chunk?.id == "1-2")
    }
}

/// The historical sync in the stage: when each chunk is announced, and what survives a restart.
@Suite struct HistoryStageTests {
    private typealias Rig = StageRig<DebouncerStage>

    private func rig() throws -> Rig {
        try StageRig {
            DebouncerStage(
                observer: "observer",
                consumers: [.init(name: "steps", types: ["a"]), .init(name: "uploader", types: nil, role: .uploader)],
                policy: .init(window: .zero, maximumWait: .zero))
        }
    }

    private func answerZones(_ rig: Rig) throws {
        let pull = try #require(rig.pulls.first { $0.name == "zones" })
        try rig.answer(
            pull, .pages([["zones": ["me": [[.null, "Europe/Berlin"]]], "head": Value(head(10)), "through": 10]]))
    }

    private func begin(_ rig: Rig, _ span: Value) throws {
        try rig.hear(beat("observer", head(10), heads: ["a": 10]))
        for consumer in ["steps", "uploader"] { try level(rig, consumer) }
        try rig.hear("control.debouncer", ["command": "sync", "id": "one", "history": span])
        try answerZones(rig)
        try rig.hear("control.debouncer", ["command": "sync", "id": "one", "history": span])
    }

    private func level(_ rig: Rig, _ consumer: String, _ replay: (String, Int64)? = nil) throws {
        var details: [String: Value] = [:]
        if let replay { details["replay"] = ["id": .string(replay.0), "left": .integer(replay.1)] }
        try rig.hear(beat(consumer, head(1, store: consumer), frontier: ["observer": 10], details: details))
    }

    private func announced(_ rig: Rig, _ consumer: String) -> Value {
        rig.sent.last { $0.topic == "sync.\(consumer)" }?.body["replay"] ?? .null
    }

    @Test func announcesOneChunkUntilAllHaveDoneIt() throws {
        let rig = try rig()
        try begin(rig, 10)
        #expect(announced(rig, "steps")["from"] == "2025-03-21" && announced(rig, "steps")["through"] == "2025-03-27")
        #expect(announced(rig, "uploader")["users"]["me"] == [1_742_511_600_000_000, 1_743_116_400_000_000])
        try level(rig, "steps", ("1-1", 0))
        try level(rig, "uploader", ("1-1", 3))
        #expect(announced(rig, "steps")["id"] == "1-1")
        try level(rig, "uploader", ("1-1", 0))
        #expect(announced(rig, "steps")["id"] == "1-2" && announced(rig, "uploader")["from"] == "2025-03-18")
        let progress = try rig.report().details["history"]
        #expect(progress?["done"] == 1 && progress?["chunks"] == 2)
        for consumer in ["steps", "uploader"] { try level(rig, consumer, ("1-2", 0)) }
        try rig.pass(.seconds(1))
        #expect(announced(rig, "steps") == .null)
        #expect(try rig.report().details["history"] == nil)
        let task = try rig.report().details["tasks"]?.array?.first { $0["id"] == "historical" }
        #expect(task?["history"]["lastOutcome"] == "succeeded")
    }

    @Test func goesOnAfterAKill() throws {
        let rig = try rig()
        try begin(rig, 10)
        for consumer in ["steps", "uploader"] { try level(rig, consumer, ("1-1", 0)) }
        try rig.restart()
        try rig.hear(beat("observer", head(10), heads: ["a": 10]))
        for consumer in ["steps", "uploader"] { try level(rig, consumer, ("1-1", 0)) }
        try rig.pass(.seconds(1))
        try answerZones(rig)
        try rig.pass(.seconds(1))
        #expect(announced(rig, "steps")["id"] == "1-2")
    }

    @Test func whatIsLiveGoesFirst() throws {
        let rig = try rig()
        try begin(rig, 10)
        // Today's change is released, but not consumed yet.
        try rig.hear("observed.a", ["head": Value(head(20)), "type": "a", "sequence": 20])
        for consumer in ["steps", "uploader"] { try level(rig, consumer, ("1-1", 0)) }
        try rig.pass(.seconds(1))
        #expect(announced(rig, "steps") == .null)
        for consumer in ["steps", "uploader"] {
            try rig.hear(beat(consumer, head(1, store: consumer), frontier: ["observer": 20]))
        }
        #expect(announced(rig, "steps")["id"] == "1-2")
    }

    @Test func everythingBeginsAtTheOldestSample() throws {
        let rig = try rig()
        try begin(rig, "all")
        let pull = try #require(rig.pulls.first { $0.name == "types" })
        // 2025-03-01 12:00 UTC
        let row = Value(
            TypeRow(
                user: "me", type: "a", sequence: 1, alive: 1, deleted: 0, quarantined: 0,
                firstStart: 1_740_830_400_000_000, lastStart: nil, lastEnd: nil))
        try rig.answer(pull, .pages([["types": [row]]]))
        #expect(try rig.report().details["history"]?["from"] == "2025-03-01")
    }

    @Test func itsUserCancelsIt() throws {
        let rig = try rig()
        try begin(rig, 90)
        try rig.hear("control.debouncer", ["command": "cancel", "task": "historical"])
        try rig.pass(.seconds(1))
        #expect(try rig.report().details["history"] == nil && announced(rig, "steps") == .null)
        try rig.restart()
        try rig.pass(.seconds(1))
        #expect(try rig.report().details["history"] == nil)
    }

    /// Offline, one that needs the network waits for it, or is refused and leaves nothing behind.
    @Test(arguments: ["queue", "fail"]) func withoutANetworkItWaitsOrFails(strategy: String) throws {
        var configuration = DebouncerConfiguration(policy: .init(window: .zero, maximumWait: .zero))
        configuration.tasksNeedNetwork = true
        let rig = try StageRig {
            DebouncerStage(
                observer: "observer", consumers: [.init(name: "steps", types: ["a"])], configuration: configuration,
                permissions: .init(tasks: ["healthkit-sync", "historical"], backgroundModes: ["processing"]))
        }
        var offline = DeviceState()
        offline.network = NetworkPath(isSatisfied: false, interface: nil)
        try rig.hear(beat("observer", head(10), heads: ["a": 10], details: ["device": Value(offline)]))
        let command: Value = ["command": "sync", "id": "one", "history": 10, "strategy": .string(strategy)]
        try rig.hear("control.debouncer", command)
        try answerZones(rig)
        try rig.hear("control.debouncer", command)
        try rig.pass(.seconds(1))
        let task = try rig.report().details["tasks"]?.array?.first { $0["id"] == "historical" }
        let problem = try rig.report().details["manual"]?["problem"].string
        if strategy == "fail" {
            #expect(problem?.contains("can't begin at once (no network path)") == true)
            #expect(try rig.report().details["history"] == nil && task?["state"] == "idle")
        } else {
            #expect(problem == nil && task?["state"] == "pending")
            #expect(task?["waitsFor"] == "no network path" && task?["request"]["resources"] == ["network"])
            #expect(task?["request"]["title"] == "Historical sync")
            #expect(task?["request"]["subtitle"].string?.wholeMatch(of: #/[\d-]{10} to [\d-]{10}/#) != nil)
            offline.network = NetworkPath(isSatisfied: true, interface: .wifi)
            try rig.hear(beat("observer", head(10), heads: ["a": 10], details: ["device": Value(offline)]))
            try rig.pass(.seconds(1))
            let running = try rig.report().details["tasks"]?.array?.first { $0["id"] == "historical" }
            #expect(running?["state"] == "running")
        }
    }

    @Test func itBeginsInTheForeground() throws {
        let rig = try rig()
        var background = DeviceState()
        background.app = .background
        try rig.hear(beat("observer", head(10), heads: ["a": 10], details: ["device": Value(background)]))
        try rig.hear("control.debouncer", ["command": "sync", "id": "one", "history": 10])
        #expect(try rig.report().details["manual"]?["problem"].string?.contains("foreground") == true)
    }
}
