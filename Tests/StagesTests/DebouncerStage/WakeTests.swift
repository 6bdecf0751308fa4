import BackgroundDelivery
import Changelog
import DebouncerStage
import HealthModel
import Protocol
import StageKit
import TestSupport
import Testing

/// The debouncer as an app that silent pushes wake.
@Suite struct WakeTests {
    private typealias Rig = StageRig<DebouncerStage>
    private static let second = Duration.seconds(1)

    private func rig(_ device: Value? = nil, modes: Set<String> = ["processing", "remote-notification"]) throws -> Rig {
        var configuration = DebouncerConfiguration(policy: .init(window: .seconds(60), maximumWait: .seconds(60)))
        configuration.launcher = .device
        let rig = try StageRig { [configuration] in
            DebouncerStage(
                observer: "observer",
                consumers: [
                    .init(name: "steps", types: ["a"]), .init(name: "uploader", types: nil, role: .uploader),
                ],
                configuration: configuration,
                permissions: .init(tasks: Set(DebouncerTask.allCases.map(\.rawValue)), backgroundModes: modes))
        }
        try observer(rig, 10, device)
        try reach(rig, 10)
        return rig
    }

    private func observer(_ rig: Rig, _ sequence: Int64, _ device: Value?) throws {
        var details: [String: Value] = [:]
        details["device"] = device
        try rig.hear(beat("observer", head(sequence), heads: ["a": SequenceNumber(sequence)], details: details))
    }

    /// All consumers have consumed everything up to a sequence.
    private func reach(_ rig: Rig, _ sequence: Int64, _ details: [String: Value] = [:]) throws {
        for name in ["steps", "uploader"] {
            let details = name == "uploader" ? details : [:]
            try rig.hear(
                beat(
                    name, head(1, store: name), frontier: ["observer": SequenceNumber(sequence)], details: details))
        }
    }

    private func wake(_ rig: Rig, _ id: String, from sender: String = "token") throws {
        try rig.hear(WakeApp.topic("debouncer"), .object(WakeApp(id: id, sender: sender).body))
    }

    private func outcome(_ rig: Rig, _ id: String) throws -> DebouncerDetails.Wake? {
        let wakes = try rig.report().details["wakes"]?.read([DebouncerDetails.Wake].self)
        return wakes?.first { $0.id == id }
    }

    private func released(_ rig: Rig) -> SequenceNumber? {
        rig.sent.last { $0.topic == "sync.steps" }.flatMap { $0.body["released"].read(AnchorVector.self) }?["a"]
    }

    @Test func theResultIsNewDataNoDataOrFailed() throws {
        let rig = try rig()
        try wake(rig, "1")
        #expect(released(rig) == 10)
        try reach(rig, 10)
        #expect(try outcome(rig, "1") == .init(id: "1", woken: true, result: .newData))
        // Everything is delivered, so there is nothing new.
        try rig.pass(Self.second * 3600)
        try reach(rig, 10)
        try wake(rig, "2")
        #expect(try outcome(rig, "2") == .init(id: "2", woken: true, result: .noData))
        // Something new, which the window would have held back for a minute.
        try observer(rig, 20, nil)
        try wake(rig, "3")
        #expect(released(rig) == 20)
        #expect(try outcome(rig, "3") == .init(id: "3", woken: true))
        try reach(rig, 20)
        #expect(try outcome(rig, "3") == .init(id: "3", woken: true, result: .newData))
        // A consumer that is silent fails the sync.
        try rig.pass(Self.second * 3600)
        try observer(rig, 30, nil)
        try wake(rig, "4")
        try rig.pass(Self.second * 16)
        let failed = try #require(try outcome(rig, "4"))
        #expect(failed.woken && failed.result == .failed && failed.problem?.contains("not heard") == true)
        #expect(
            rig.log.fields(of: .syncRequested) == Array(repeating: ["from": "token", "outcome": "woken"], count: 4))
    }

    @Test func twoAnHourCountAndRestartsDontForget() throws {
        let rig = try rig()
        let began = rig.now
        try wake(rig, "1")
        try rig.restart()
        try observer(rig, 20, nil)
        // Said again after the restart: it is carried out again, and counts once.
        try wake(rig, "1")
        #expect(try outcome(rig, "1")?.woken == true)
        try wake(rig, "2")
        try rig.restart()
        try observer(rig, 30, nil)
        rig.sent = []
        try wake(rig, "3")
        let third = try outcome(rig, "3")
        #expect(third?.woken == false && third?.result == nil)
        #expect(third?.next == began + Self.second * 3600)
        #expect(released(rig).map { $0 < 30 } ?? true, "nothing is released for one that doesn't count")
        for id in ["3b", "3c"] { try wake(rig, id) }
        #expect(rig.log.fields(of: .syncRequested).count { $0["outcome"] == "used up" } == 1)
        // Each token has its own.
        try wake(rig, "4", from: "another")
        #expect(try outcome(rig, "4")?.woken == true && released(rig) == 30)
        rig.now += Self.second * 3600
        try wake(rig, "5")
        #expect(try outcome(rig, "5")?.woken == true)
    }

    @Test(
        arguments: [
            (["locked": true], true), (["app": "forceQuit"], false), (["app": "background", "deferring": true], false),
            (["app": "background", "lowPower": true], false),
        ] as [(Value, Bool)])
    func anAppThatCantReadIsNotWoken(_ device: Value, _ counts: Bool) throws {
        let rig = try rig(device)
        try observer(rig, 20, device)
        for id in ["1", "2"] {
            try wake(rig, id)
            let wake = try #require(try outcome(rig, id))
            #expect(!wake.woken && wake.result == .failed && wake.problem?.isEmpty == false && wake.next == nil)
        }
        #expect(released(rig) != 20)
        // A locked phone runs the app, which can't read; otherwise the push never arrives.
        try wake(rig, "3")
        #expect(try (outcome(rig, "3")?.next != nil) == counts)
        try observer(rig, 20, ["app": "background"])
        try wake(rig, "4")
        #expect(try outcome(rig, "4")?.woken == !counts)
    }

    /// In the background a push also brings what no fire has announced.
    @Test func aWakeInTheBackgroundReleasesEverything() throws {
        let rig = try rig(["app": "background"])
        try observer(rig, 20, ["app": "background"])
        try wake(rig, "1")
        #expect(try outcome(rig, "1")?.woken == true && released(rig) == 20)
    }

    @Test func withoutItsBackgroundModeAPushWakesNobody() throws {
        let rig = try rig(["app": "background"], modes: ["processing"])
        try observer(rig, 20, ["app": "background"])
        try wake(rig, "1")
        let wake = try #require(try outcome(rig, "1"))
        #expect(!wake.woken && wake.result == .failed && wake.problem?.contains("remote-notification") == true)
        #expect(released(rig) != 20)
        // On the screen it needs no mode.
        try observer(rig, 20, ["app": "active"])
        try self.wake(rig, "2")
        #expect(try outcome(rig, "2")?.woken == true && released(rig) == 20)
    }

    /// One that has just started knows neither the phone nor what there is; the wake is repeated until it does.
    @Test func aWakeWaitsForTheFirstWordOfThePhone() throws {
        let rig = try rig(["app": "background"])
        try rig.restart()
        try wake(rig, "1")
        #expect(try outcome(rig, "1") == nil && released(rig) ?? 0 < 20)
        try observer(rig, 20, ["app": "background"])
        try wake(rig, "1")
        #expect(try outcome(rig, "1")?.woken == true && released(rig) == 20)
    }

    @Test func aBackendMayAskForASync() throws {
        let rig = try rig()
        try observer(rig, 20, nil)
        let asked: [String: Value] = ["waiting": 0, "syncRequested": Value(rig.now)]
        try reach(rig, 10, asked)
        #expect(released(rig) == 20)
        #expect(rig.log.fields(of: .syncRequested) == [["from": "uploader", "outcome": "woken"]])
        // The same request, in each later heartbeat, and after a restart.
        try reach(rig, 20, asked)
        try rig.restart()
        try observer(rig, 20, nil)
        try rig.pass(Self.second * 90)
        try reach(rig, 20, asked)
        #expect(rig.log.fields(of: .syncRequested).count == 1)
        // A backend that always asks is heard twice an hour.
        for _ in 0..<5 {
            try rig.pass(Self.second)
            try reach(rig, 20, ["waiting": 0, "syncRequested": Value(rig.now)])
        }
        #expect(rig.log.fields(of: .syncRequested).count { $0["outcome"] == "woken" } == 2)
    }
}
