import BackgroundDelivery
import Changelog
import Configuration
import DebouncerStage
import Foundation
import HealthModel
import MessageBus
import Protocol
import Simulation
import StageKit
import TestSupport
import Testing

/// The tasks of a stack's debouncer, as its manifest and a configuration define them.
@Suite struct DebouncerTaskTests {
    private static let steps = "HKQuantityTypeIdentifierStepCount"
    private static let second = Duration.seconds(1)
    private typealias Rig = StageRig<DebouncerStage>

    private func rig(_ options: String = "{}") throws -> Rig {
        let folder = try TemporaryFolder()
        let stack = try withExtendedLifetime(folder) {
            let file = folder.path + "/stack.json"
            try #"{"instances": {"debouncer": {"configuration": \#(options)}}}"#
                .write(toFile: file, atomically: true, encoding: .utf8)
            return try StackConfiguration(
                path: file, catalog: try PluginCatalog(folder: Checkout.root + "/plugins", programs: "/nowhere"))
        }
        let stage = try DebouncerStage(stack: stack, instance: try #require(stack.only(.debouncer)))
        let rig = try StageRig { stage }
        // In the first second, the repeating tasks are submitted.
        try rig.pass(Self.second)
        return rig
    }

    private func tasks(_ rig: Rig) throws -> [String: Value] {
        try rig.pass(Self.second)
        let rows = try rig.report().details["tasks"]?.array ?? []
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["id"].string ?? "", $0) })
    }

    private func observer(
        _ rig: Rig, _ sequence: Int64, app: String = "active", _ more: [String: Value] = [:]
    ) throws {
        var details = more
        if app != "active" { details["device"] = ["app": .string(app)] }
        try rig.hear(
            beat("observer", head(sequence), heads: [Self.steps: SequenceNumber(sequence)], details: details))
    }

    private func fire(_ rig: Rig, _ sequence: Int64, _ type: String = steps) throws {
        try rig.hear(
            "observed.\(type)",
            ["head": Value(head(sequence)), "type": .string(type), "sequence": .integer(sequence)])
    }

    private func released(_ rig: Rig, to consumer: String = "steps", _ type: String = steps) -> SequenceNumber? {
        rig.sent.last { $0.topic == "sync.\(consumer)" }.flatMap { $0.body["released"].read(AnchorVector.self) }?[type]
    }

    /// All consumers, or one, have consumed everything up to a sequence.
    private func reach(_ rig: Rig, _ sequence: SequenceNumber, _ consumer: String? = nil) throws {
        for topic in Set(rig.sent.map(\.topic)).sorted() where topic.hasPrefix("sync.") {
            let name = String(topic.dropFirst("sync.".count))
            guard consumer == nil || consumer == name else { continue }
            try rig.hear(beat(name, head(1, store: name), frontier: ["observer": sequence]))
        }
    }

    private func launch(_ rig: Rig, _ task: String) throws {
        try rig.hear("control.debouncer", ["command": "launch", "task": .string(task)])
    }

    private func answerZones(_ rig: Rig) throws {
        let pull = try #require(rig.pulls.first { $0.name == "zones" })
        try rig.answer(
            pull, .pages([["zones": ["me": [[.null, "Europe/Berlin"]]], "head": Value(head(10)), "through": 10]]))
    }

    @Test func tasksWaitForTheMachineIfTheyAreAskedTo() throws {
        let usual = try rig()
        #expect(!usual.effects.contains { $0.request is WatchMachine })
        let rig = try rig(#"{"tasksNeedIdle": true}"#)
        let effect = try #require(rig.effects.first { $0.request is WatchMachine })
        try rig.reply(effect, MachineState(isCharging: false, batteryLevel: 0.1))
        try rig.pass(Self.second * 1000)
        #expect(try tasks(rig)["remote-sync"]?["waitsFor"].string == TaskObstacle.lowBattery.rawValue)
        try rig.reply(effect, MachineState(isCharging: true, batteryLevel: 0.1))
        #expect(try tasks(rig)["remote-sync"]?["history"]["runs"] == 1)
    }

    /// The phone's power, or that of the machine: each holds them back.
    @Test func tasksWaitForPowerIfTheyAreAskedTo() throws {
        for (options, waits) in [(#"{"tasksNeedPower": true}"#, true), ("{}", false)] {
            let rig = try rig(options)
            func observer(charging: Bool) throws {
                try self.observer(rig, 10, ["device": ["charging": .bool(charging)]])
            }
            try observer(charging: false)
            try rig.pass(Self.second * 1000)
            try observer(charging: false)
            let task = try tasks(rig)["remote-sync"]
            #expect(task?["request"]["power"] == .bool(waits))
            #expect((task?["waitsFor"].string == TaskObstacle.noPower.rawValue) == waits)
            #expect(task?["history"]["runs"].int ?? 0 == (waits ? 0 : 1))
            guard waits else { continue }
            let machine = try #require(rig.effects.first { $0.request is WatchMachine })
            try rig.reply(machine, MachineState(isCharging: false, batteryLevel: 0.9))
            try observer(charging: true)
            #expect(try tasks(rig)["remote-sync"]?["waitsFor"].string == TaskObstacle.noPower.rawValue)
            try rig.reply(machine, MachineState(isCharging: true, batteryLevel: 0.9))
            #expect(try tasks(rig)["remote-sync"]?["history"]["runs"] == 1)
        }
    }

    /// Without options they need neither network nor power.
    @Test(arguments: [(false, false), (true, false), (false, true)])
    func tasksThatRepeatAreSubmittedAtTheLaunch(network: Bool, power: Bool) throws {
        let options = "\"tasksNeedNetwork\": \(network), \"tasksNeedPower\": \(power)"
        let rig = try network || power ? rig("{\(options)}") : rig()
        let launched = rig.now
        let tasks = try tasks(rig)
        for (task, minutes) in [("remote-sync", 15 as Int64), ("notification-check", 60)] {
            #expect(tasks[task]?["state"] == "pending" && tasks[task]?["kind"] == "processing")
            #expect(
                tasks[task]?["request"]["earliestBegin"] == .integer((launched + .seconds(minutes * 60)).microseconds))
            #expect(
                tasks[task]?["request"]["network"] == .bool(network) && tasks[task]?["request"]["power"] == .bool(power)
            )
        }
        // Tasks that haven't been requested yet are only registered.
        #expect(tasks["healthkit-sync"]?["state"] == "idle" && tasks["historical"]?["kind"] == "continued")
    }

    /// At 00:01, when the day's energy is complete; an hour that is set moves it.
    @Test(arguments: [("{}", "2025-03-28T00:01:00+01:00"), (#"{"dailyEnergyHour": 23}"#, "2025-03-27T23:01:00+01:00")])
    func theEnergyIsComputedOneMinutePastMidnight(options: String, begins: String) throws {
        let rig = try rig(options)
        try answerZones(rig)
        let expected = try #require(InstantText.parse(begins))
        try rig.pass(5 * Self.second)
        #expect(try tasks(rig)["daily-energy"]?["request"]["earliestBegin"] == .integer(expected.microseconds))
    }

    @Test func theSafetyNetIsThereOnlyForWhoAsksForIt() throws {
        let bare = try tasks(try rig())
        #expect(bare["catch-up"] == nil && bare["refresh"] == nil)
        let rig = try rig(#"{"strategy": "combined", "refreshMinutes": 60}"#)
        let launched = rig.now
        let tasks = try tasks(rig)
        #expect(tasks["catch-up"]?["kind"] == "processing" && tasks["refresh"]?["kind"] == "refresh")
        #expect(
            tasks["catch-up"]?["request"]["earliestBegin"] == .integer((launched + .seconds(4 * 3600)).microseconds))
        #expect(tasks["refresh"]?["request"]["earliestBegin"] == .integer((launched + .seconds(3600)).microseconds))
    }

    /// The system has stopped background delivery, so nothing is fired anymore.
    @Test(arguments: ["catch-up", "refresh"])
    func theSafetyNetBringsWhatIsNoLongerFired(task: String) throws {
        let rig = try rig(#"{"strategy": "combined", "refreshMinutes": 60, "launch": "device"}"#)
        func observer(_ sequence: Int64) throws {
            try self.observer(
                rig, sequence, app: "background",
                [
                    "stopped": ["debouncer"],
                    "fired": Value(AnchorVector(base: SequenceNumber(sequence), exceptions: [Self.steps: 10])),
                ])
        }
        try observer(10)
        try observer(20)
        try rig.pass(Self.second * (4 * 3600))
        try observer(20)
        try rig.pass(6 * Self.second)
        #expect(released(rig) ?? 0 <= 10)
        #expect(try tasks(rig)[task]?["waitsFor"].string == TaskObstacle.device.rawValue)
        try rig.hear("control.debouncer", ["command": "launch", "task": .string(task)])
        #expect(released(rig) == 20)
    }

    @Test func whatATaskReleasedBeforeItExpiredStaysReleased() throws {
        let rig = try rig(#"{"launch": "device"}"#)
        try observer(rig, 10, app: "background")
        try rig.pass(6 * Self.second)
        try rig.hear("control.debouncer", ["command": "launch", "task": "healthkit-sync"])
        #expect(released(rig) == 10)
        try fire(rig, 20)
        try rig.hear("control.debouncer", ["command": "expire", "task": "healthkit-sync"])
        #expect(try tasks(rig)["healthkit-sync"]?["history"]["lastOutcome"] == "expired")
        #expect(rig.log.fields(of: .taskExpired).map { $0["task"] } == ["healthkit-sync"])
        #expect(released(rig) ?? 0 >= 10)
        // What the task doesn't get to is left for the next run.
        try rig.pass(6 * Self.second)
        #expect(try tasks(rig)["healthkit-sync"]?["state"] == "pending")
        try rig.hear("control.debouncer", ["command": "launch", "task": "healthkit-sync"])
        #expect(released(rig) == 20)
    }

    @Test func aFireWithoutAChangeReleasesNothing() throws {
        let rig = try rig()
        try observer(rig, 10)
        try rig.pass(6 * Self.second)
        let finished = rig.log.fields(of: .debounceFinished).count
        #expect(finished == 1 && released(rig) == 10)
        // As when the app enters the foreground, every observer query fires, whatever has changed.
        try fire(rig, 10)
        try rig.pass(6 * Self.second)
        #expect(rig.log.fields(of: .debounceFinished).count == finished && released(rig) == 10)
    }

    /// In the background. What repeats is requested again before the sync begins, an hour ahead.
    @Test(arguments: ["succeeded", "failed", "expired"])
    func aTaskSubmitsItsNextRunFirstAndSaysHowItWent(outcome: String) throws {
        let rig = try rig(#"{"refreshMinutes": 60, "launch": "device"}"#)
        let hour = Duration.seconds(3600)
        let launched = rig.now
        #expect(try tasks(rig)["refresh"]?["request"]["earliestBegin"] == .integer((launched + hour).microseconds))
        try observer(rig, 10, app: "background")
        try launch(rig, "refresh")
        #expect(try tasks(rig)["refresh"]?["waitsFor"].string == TaskObstacle.notYet.rawValue)
        try rig.pass(hour)
        let began = rig.now
        try launch(rig, "refresh")
        #expect(released(rig) == 10)
        #expect(try tasks(rig)["refresh"]?["state"] == "running")
        try rig.pass(Self.second * 5)
        switch outcome {
        case "succeeded": try reach(rig, 10)
        case "failed": try rig.pass(Self.second * 15)
        default:
            try rig.hear("control.debouncer", ["command": "expire", "task": "refresh"])
            // The sync that it began isn't waited for.
            try reach(rig, 10)
        }
        let task = try #require(try tasks(rig)["refresh"])
        #expect(task["history"]["lastOutcome"] == .string(outcome) && task["history"]["runs"] == 1)
        #expect(task["request"]["earliestBegin"] == .integer((began + hour).microseconds))
        #expect(task["state"] == "pending")
    }

    @Test func theirIntervalsAreOptions() throws {
        let rig = try rig(
            #"{"strategy": "combined", "catchUpHours": 6, "refreshMinutes": 90, "remoteSyncMinutes": 30, "#
                + #""notificationCheckMinutes": 0}"#)
        let launched = rig.now
        let tasks = try tasks(rig)
        for (task, minutes) in [("catch-up", 360 as Int64), ("refresh", 90), ("remote-sync", 30)] {
            let request = tasks[task]?["request"]
            #expect(request?["earliestBegin"] == .integer((launched + .seconds(minutes * 60)).microseconds), "\(task)")
        }
        #expect(tasks["notification-check"] == nil, "0 is never")
    }

    @Test func theEnergysTaskReleasesTheEnergyAndTheRemoteOneEverything() throws {
        let energy = "HKQuantityTypeIdentifierActiveEnergyBurned"
        let rig = try rig(#"{"launch": "device"}"#)
        try answerZones(rig)
        try observer(rig, 10, app: "background")
        try fire(rig, 20, energy)
        try rig.pass(6 * Self.second)
        let midnight = try #require(InstantText.parse("2025-03-28T00:01:00+01:00"))
        try rig.pass(midnight - rig.now)
        #expect(released(rig, to: "energy", energy) ?? 0 < 20 && released(rig) ?? 0 < 10)
        try launch(rig, "daily-energy")
        #expect(released(rig, to: "energy", energy) == 20 && released(rig) ?? 0 < 10)
        try reach(rig, 20, "energy")
        #expect(try tasks(rig)["daily-energy"]?["history"]["lastOutcome"] == "succeeded")
        try launch(rig, "remote-sync")
        #expect(released(rig) ?? 0 >= 10)
        #expect(try tasks(rig)["remote-sync"]?["state"] == "running")
        try reach(rig, 20, "uploader")
        #expect(try tasks(rig)["remote-sync"]?["history"]["lastOutcome"] == "succeeded")
    }

    /// Sleep's manifest names this time among its triggers. In the background the task is submitted that releases it.
    @Test(arguments: ["active", "background"]) func atOneMinutePastMidnightSleepIsReleased(app: String) throws {
        let sleep = "HKCategoryTypeIdentifierSleepAnalysis"
        let weight = "HKQuantityTypeIdentifierBodyMass"
        let isActive = app == "active"
        let rig = try rig(
            #"{"windowSeconds": \#(isActive ? 3600 : 0), "maximumWaitSeconds": 86400, "launch": "device"}"#)
        try answerZones(rig)
        try observer(rig, 10)
        try rig.pass(5 * Self.second)
        let midnight = try #require(InstantText.parse("2025-03-28T00:01:00+01:00"))
        try rig.pass(midnight - rig.now - Self.second * 1800)
        if isActive {
            try fire(rig, 20, sleep)
            try fire(rig, 21, weight)
        } else {
            // Nothing has been fired, so that no window ends.
            try rig.hear(
                beat(
                    "observer", head(21), heads: [Self.steps: 10, sleep: 20, weight: 21],
                    details: [
                        "fired": Value(AnchorVector(base: 10)), "device": ["app": .string(app)],
                    ]))
        }
        try rig.pass(Self.second * 1798)
        #expect(try tasks(rig)["healthkit-sync"]?["state"] == "idle")
        #expect(released(rig, to: "sleep", sleep) ?? 0 < 20)
        try rig.pass(Self.second)
        #expect((released(rig, to: "sleep", sleep) ?? 0 >= 20) == isActive)
        #expect(released(rig, to: "body", weight) ?? 0 < 21)
        guard !isActive else { return }
        #expect(try tasks(rig)["healthkit-sync"]?["state"] == "pending")
        try launch(rig, "healthkit-sync")
        #expect(released(rig, to: "sleep", sleep) ?? 0 >= 20)
    }
}
