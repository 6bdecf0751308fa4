import BackgroundDelivery
import Changelog
import Configuration
import DebouncerStage
import Foundation
import HealthModel
import Protocol
import SQLite
import Simulation
import StageKit
import TestSupport
import Testing

/// The debouncer as an app's background sync manager: what it does while the app has no time of its own.
@Suite struct BackgroundTests {
    private static let second = Duration.seconds(1)
    private typealias Rig = StageRig<DebouncerStage>

    private func rig(
        window: Duration = .seconds(1), _ change: @escaping (inout DebouncerConfiguration) -> Void = { _ in }
    ) throws -> Rig {
        try StageRig {
            var configuration = DebouncerConfiguration(policy: .init(window: window, maximumWait: .seconds(5)))
            configuration.launcher = .device
            change(&configuration)
            return DebouncerStage(
                observer: "observer", consolidator: "consolidator",
                consumers: [
                    .init(name: "steps", types: ["a"]), .init(name: "sleep", types: ["s"], triggers: ["a"]),
                    .init(name: "uploader", types: nil, role: .uploader),
                ], configuration: configuration,
                permissions: .init(
                    tasks: Set(DebouncerTask.allCases.map(\.rawValue)), backgroundModes: ["processing", "fetch"]))
        }
    }

    private func observer(
        _ rig: Rig, _ sequence: Int64, _ heads: [String: SequenceNumber], fired: AnchorVector? = nil,
        device: Value? = nil,
        _ more: [String: Value] = [:]
    ) throws {
        var details = more
        details["fired"] = fired.map { Value($0) }
        details["device"] = device
        try rig.hear(beat("observer", head(sequence), heads: heads, details: details))
    }

    private func fire(_ rig: Rig, _ type: String, _ sequence: Int64) throws {
        try rig.hear(
            "observed.\(type)",
            ["head": Value(head(sequence)), "type": .string(type), "sequence": .integer(sequence)])
    }

    private func released(_ rig: Rig, _ consumer: String, _ type: String) -> SequenceNumber? {
        rig.sent.last { $0.topic == "sync.\(consumer)" }.flatMap { $0.body["released"].read(AnchorVector.self) }?[type]
    }

    private func task(_ rig: Rig, _ id: String) throws -> Value {
        try rig.pass(Self.second)
        return try rig.report().details["tasks"]?.array?.first { $0["id"].string == id } ?? .null
    }

    private func reach(_ rig: Rig, _ consumer: String, _ sequence: Int64, _ more: [String: Value] = [:]) throws {
        try rig.hear(
            beat(consumer, head(1, store: consumer), frontier: ["observer": SequenceNumber(sequence)], details: more))
    }

    private let away: Value = ["app": "background"]

    @Test func registersUntilTheObserverSaysSo() throws {
        let rig = try rig { $0.frequencies = ["*": "hourly"] }
        try rig.pass(Self.second)
        let asked = try #require(rig.sent.last { $0.topic == "control.observer" }?.body)
        #expect(asked["command"] == "register" && asked["consumer"] == "debouncer" && asked["types"] == ["*": "hourly"])
        let launch = try #require(asked["launch"].int)
        try observer(rig, 10, [:], ["registered": ["debouncer": .integer(launch - 1)]])
        rig.sent = []
        try rig.pass(Self.second)
        #expect(rig.sent.contains { $0.topic == "control.observer" })
        try observer(rig, 10, [:], ["registered": ["debouncer": .integer(launch)]])
        rig.sent = []
        try rig.pass(Self.second)
        #expect(!rig.sent.contains { $0.topic == "control.observer" })
        // Each start counts as a separate launch.
        try rig.restart()
        try rig.pass(Self.second)
        #expect(rig.sent.last { $0.topic == "control.observer" }?.body["launch"] == .integer(launch + 1))
    }

    @Test func aWakeNotesTheTypeAndATaskReleasesIt() throws {
        let rig = try rig()
        try observer(rig, 10, ["a": 10], device: away)
        try rig.pass(6 * Self.second)
        rig.sent = []
        try fire(rig, "a", 20)
        // The name of a type that isn't HealthKit's isn't logged.
        // Neither is whether the device is locked: the observer's fire may overtake the heartbeat that says so.
        #expect(rig.log.fields(of: .observerFired) == [["type": "other"]])
        let added = rig.log.fields(of: .pendingAdded)
        #expect(!added.isEmpty && added.allSatisfy { $0 == ["type": "other"] })
        // The fire is acknowledged within the wake, as soon as it is stored.
        #expect(rig.sent.last { $0.topic == "acknowledged.observer" }?.body["types"] == ["a": 20])
        try rig.pass(6 * Self.second)
        #expect(released(rig, "steps", "a") == 0)
        #expect(try task(rig, "healthkit-sync")["state"] == "pending")
        try rig.hear("control.debouncer", ["command": "launch", "task": "healthkit-sync"])
        #expect(released(rig, "steps", "a") == 20)
        #expect(try task(rig, "healthkit-sync")["state"] == "running")
        // The task is done once every consumer involved has received its part.
        for consumer in ["steps", "sleep", "uploader"] { try reach(rig, consumer, 20) }
        #expect(try task(rig, "healthkit-sync")["history"]["lastOutcome"] == "succeeded")
    }

    /// The disk is full, so the turn that notes a fire can't be committed.
    @Test func aFailedTurnIsAcknowledgedAndItsWorkDoneAgain() throws {
        let rig = try rig()
        try observer(rig, 10, ["a": 10], device: away)
        try rig.pass(6 * Self.second)
        rig.sent = []
        let fault = "CREATE TRIGGER full BEFORE INSERT ON released BEGIN SELECT RAISE(ABORT, 'full'); END"
        try rig.store.database.execute(fault)
        #expect(throws: SQLiteError.self) { try fire(rig, "a", 20) }
        // Nothing of the turn is left but its acknowledgement: the app isn't at fault in the system's eyes.
        #expect(rig.sent.map(\.topic) == ["acknowledged.observer"])
        #expect(rig.sent.first?.body["types"] == ["a": 20] && rig.sent.first?.body["consumer"] == "debouncer")
        // The next launch learns from the anchors what is still to do, though nothing is fired again.
        try rig.store.database.execute("DROP TRIGGER full")
        try rig.restart()
        try observer(rig, 20, ["a": 20], fired: AnchorVector(base: 20), device: away)
        try rig.pass(6 * Self.second)
        #expect(try rig.report().details["pending"] == 1)
        #expect(try task(rig, "healthkit-sync")["state"] == "pending")
        try rig.hear("control.debouncer", ["command": "launch", "task": "healthkit-sync"])
        #expect(released(rig, "steps", "a") == 20)
    }

    @Test func aFailedTurnOfAForceQuitAppAcknowledgesNothing() throws {
        let rig = try rig()
        try observer(rig, 10, ["a": 10], device: ["app": "forceQuit"])
        rig.sent = []
        let body: Value = ["head": Value(head(20)), "type": "a", "sequence": 20]
        let message = Message(topic: "observed.a", header: .init(from: "observer", at: rig.now), body: body)
        #expect(rig.stage.lastWords([message]).isEmpty)
        try observer(rig, 10, ["a": 10], device: away)
        #expect(rig.stage.lastWords([message]).map(\.topic) == ["acknowledged.observer"])
    }

    @Test func thePendingSetOutlivesARestart() throws {
        let rig = try rig()
        try observer(rig, 10, [:], device: away)
        try fire(rig, "a", 20)
        try rig.restart()
        try observer(rig, 20, ["a": 20], fired: AnchorVector(base: 20), device: away)
        try rig.pass(Self.second)
        #expect(try task(rig, "healthkit-sync")["state"] == "pending")
        #expect(released(rig, "steps", "a") == 10)
    }

    /// A person asks to sync one metric while other types wait for a task: the other types keep waiting, even after a
    /// restart.
    @Test func aSyncOfOneMetricLeavesTheOthersPending() throws {
        let rig = try rig()
        try observer(rig, 10, [:], device: away)
        try fire(rig, "b", 20)
        try fire(rig, "a", 21)
        try rig.pass(6 * Self.second)
        #expect(try rig.report().details["pending"] == 2)
        try rig.hear("control.debouncer", ["command": "sync", "id": "one", "metric": "steps"])
        #expect(released(rig, "steps", "a") == 21)
        #expect(try rig.report().details["pending"] == 1)
        try rig.restart()
        #expect(try rig.report().details["pending"] == 1)
        #expect(released(rig, "uploader", "b") ?? 0 < 20)
    }

    /// A person who imports and then syncs at once wants the imported data, even if no hint of it has arrived yet.
    @Test func aSyncWaitsForTheHeadItIsAskedFor() throws {
        let rig = try rig()
        try observer(rig, 10, [:])
        try rig.hear("control.debouncer", ["command": "sync", "id": "one", "head": 20])
        #expect(try rig.report().details["manual"]?.isNull ?? true)
        try observer(rig, 20, ["a": 20])
        try rig.hear("control.debouncer", ["command": "sync", "id": "one", "head": 20])
        #expect(try rig.report().details["manual"]?["id"] == "one")
        #expect(released(rig, "steps", "a") == 20)
    }

    @Test func whatComesWhileTheTaskRunsIsNotForgotten() throws {
        let rig = try rig()
        try observer(rig, 10, ["a": 10], device: away)
        try rig.pass(6 * Self.second)
        try rig.hear("control.debouncer", ["command": "launch", "task": "healthkit-sync"])
        try fire(rig, "a", 20)
        for consumer in ["steps", "sleep", "uploader"] { try reach(rig, consumer, 10) }
        #expect(try task(rig, "healthkit-sync")["state"] != "running")
        // The task ended before the type's window closed, so the type goes to a new task.
        #expect(try task(rig, "healthkit-sync")["state"] == "pending")
        try rig.restart()
        try observer(rig, 20, ["a": 20], fired: AnchorVector(base: 20), device: away)
        #expect(try task(rig, "healthkit-sync")["state"] == "pending")
        try rig.hear("control.debouncer", ["command": "launch", "task": "healthkit-sync"])
        #expect(released(rig, "steps", "a") == 20)
    }

    @Test func aTaskReleasesMoreThanWasFired() throws {
        let rig = try rig()
        try observer(rig, 30, ["a": 20, "s": 30], fired: AnchorVector(base: 30, exceptions: ["s": 0]), device: away)
        try rig.pass(6 * Self.second)
        #expect(released(rig, "sleep", "s") == 0)
        try rig.hear("control.debouncer", ["command": "launch", "task": "healthkit-sync"])
        #expect(released(rig, "sleep", "s") == 30)
    }

    @Test func aSyncWithinTheWakeReleasesWhatWasFired() throws {
        let rig = try rig { $0.background = .sync }
        try observer(rig, 30, ["a": 20, "b": 30], fired: AnchorVector(base: 30, exceptions: ["b": 0]), device: away)
        try rig.pass(6 * Self.second)
        #expect(released(rig, "steps", "a") == 30 && released(rig, "uploader", "b") == 0)
        #expect(try task(rig, "healthkit-sync")["state"] == "idle")
    }

    @Test(arguments: [["locked": true], ["app": "forceQuit"]] as [Value])
    func nothingIsReleasedWhileItCanNotBeRead(_ device: Value) throws {
        let rig = try rig()
        try observer(rig, 10, [:], device: device)
        try fire(rig, "a", 20)
        try observer(rig, 20, ["a": 20], device: device)
        for _ in 0..<10 { try rig.pass(Self.second) }
        #expect(released(rig, "steps", "a") == 10)
        // After that, the type is released without waiting for a window.
        try observer(rig, 20, ["a": 20])
        #expect(released(rig, "steps", "a") == 20)
    }

    @Test func comingToTheForegroundSyncsAtOnce() throws {
        let rig = try rig()
        try observer(rig, 30, ["a": 20, "s": 30], fired: AnchorVector(base: 30, exceptions: ["s": 0]), device: away)
        try rig.pass(6 * Self.second)
        rig.sent = []
        try observer(rig, 30, ["a": 20, "s": 30], fired: AnchorVector(base: 30, exceptions: ["s": 0]))
        #expect(released(rig, "steps", "a") == 30 && released(rig, "sleep", "s") == 30)
    }

    @Test func goingToTheBackgroundSubmitsWhatIsPending() throws {
        let rig = try rig(window: .seconds(60))
        try fire(rig, "a", 10)
        try observer(rig, 10, ["a": 10], device: away)
        #expect(try task(rig, "healthkit-sync")["state"] == "pending")
    }

    @Test func aTypeThatIsOffStaysWhereItIs() throws {
        let rig = try rig()
        try observer(rig, 10, ["a": 10], ["off": ["a"]])
        try fire(rig, "a", 20)
        try observer(rig, 20, ["a": 20, "s": 15], ["off": ["a"]])
        try rig.pass(6 * Self.second)
        #expect(released(rig, "steps", "a") == 0 && released(rig, "sleep", "s") == 20)
        #expect(rig.sent.last { $0.topic == "sync.steps" }?.body["off"] == ["a"])
        #expect(rig.sent.last { $0.topic == "sync.sleep" }?.body["off"] == .null)
        try observer(rig, 20, ["a": 20, "s": 15])
        try rig.pass(6 * Self.second)
        #expect(released(rig, "steps", "a") == 20)
    }

    @Test func aTriggerTakesItsConsumerAlong() throws {
        let rig = try rig { $0.policy.byType = ["s": .seconds(600)] }
        try fire(rig, "s", 10)
        try fire(rig, "a", 20)
        try observer(rig, 20, ["a": 20, "s": 10])
        try rig.pass(Self.second)
        #expect(released(rig, "sleep", "s") == 20)
    }

    @Test func withoutAWindowASyncCommitsNothing() throws {
        let rig = try rig(window: .zero)
        try observer(rig, 10, ["a": 10])
        for consumer in ["steps", "uploader"] { try reach(rig, consumer, 10) }
        try rig.pass(3 * Self.second)
        rig.commits = 0
        for sequence in Int64(11)...60 {
            try fire(rig, "a", sequence)
            for consumer in ["steps", "sleep", "uploader"] { try reach(rig, consumer, sequence) }
            try rig.pass(.microseconds(20_000))
        }
        #expect(rig.commits == 0 && released(rig, "steps", "a") == 60)
        // The outcome is written once nothing is left to do.
        try rig.pass(3 * Self.second)
        #expect(rig.commits == 1)
        #expect(try rig.rows().values.count { $0.topic == "rounds" } == 51)
    }

    @Test func theConsolidatorsTaskGivesTheAppTimeToo() throws {
        let rig = try rig()
        try observer(rig, 10, ["a": 10], device: away)
        try rig.pass(6 * Self.second)
        #expect(released(rig, "steps", "a") == 0)
        try rig.hear(
            beat("consolidator", head(1), details: ["tasks": [["id": "consolidated-daily", "state": "running"]]]))
        #expect(released(rig, "steps", "a") == 10)
    }

    @Test func aManualSyncClosesTheWindows() throws {
        let rig = try rig(window: .seconds(600))
        try fire(rig, "a", 10)
        try fire(rig, "s", 12)
        try observer(rig, 12, ["a": 10, "s": 12])
        try rig.hear("control.debouncer", ["command": "sync", "id": "one", "metric": "steps"])
        #expect(released(rig, "steps", "a") == 12 && released(rig, "sleep", "s") == 0)
        try reach(rig, "steps", 12)
        #expect(try rig.report().details["manual"]?["result"] == .null)
        try reach(rig, "uploader", 0, ["consumed": ["base": 12, "types": ["s": 0]]])
        let result = try #require(try rig.report().details["manual"]?["result"])
        #expect(result["succeeded"].object?.keys.sorted() == ["steps", "uploader"] && result["failed"] == [:])
        try observer(rig, 12, ["a": 10, "s": 12], device: ["locked": true])
        try rig.hear("control.debouncer", ["command": "sync", "id": "two"])
        #expect(try rig.report().details["manual"]?["problem"].string?.contains("locked") == true)
    }

    @Test func roundsThatFailAreReportedAndForgiven() throws {
        let rig = try rig(window: .zero) { $0.intervals = [.notificationCheck: .seconds(60)] }
        func round(_ sequence: Int64, succeeds: Bool) throws {
            try fire(rig, "a", sequence)
            try reach(rig, "uploader", sequence)
            if succeeds {
                for consumer in ["steps", "sleep"] { try reach(rig, consumer, sequence) }
            }
            try rig.pass(20 * Self.second)
        }
        func check() throws {
            try rig.pass(61 * Self.second)
            try rig.hear("control.debouncer", ["command": "launch", "task": "notification-check"])
        }
        let key = "alert/degraded/rounds"
        for sequence in Int64(1)...3 { try round(sequence, succeeds: false) }
        let why = try #require(
            rig.log.fields(of: .syncMetric).last { $0["consumer"] == "steps" && $0["outcome"] == "failed" }?["why"])
        #expect(why.contains("not heard"), "\(why)")
        #expect(rig.log.fields(of: .syncSummary).last.map { [$0["completed"], $0["failed"]] } == ["1", "1"])
        try check()
        let alert = try #require(try rig.rows()[key]?.body)
        #expect(alert["kind"] == "degraded" && alert["remedy"].string?.isEmpty == false)
        try check()
        #expect(try rig.rows()[key]?.body == alert)
        try round(4, succeeds: true)
        try check()
        #expect(try rig.rows()[key]?.body == .none)
    }
}

/// The debouncer's options, as read from files.
@Suite struct DebouncerConfigurationTests {
    private func stack(_ options: String, in folder: TemporaryFolder) throws -> StackConfiguration {
        let file = folder.path + "/stack.json"
        try Data("{\"instances\": {\"debouncer\": {\"configuration\": \(options)}}}".utf8)
            .write(to: URL(fileURLWithPath: file))
        return try StackConfiguration(
            path: file, catalog: PluginCatalog(folder: Checkout.root + "/plugins", programs: "/nowhere"))
    }

    @Test(
        arguments: [
            (#"{"windows": {"stepps": 5}}"#, "windows.stepps"), (#"{"windows": {"steps": -1}}"#, "windows.steps"),
            (#"{"maximumWaits": {"HKQuantityTypeIdentifierSteps": 5}}"#, "maximumWaits"),
            (#"{"frequencies": {"steps": "often"}}"#, "frequencies.steps"), (#"{"launch": "never"}"#, "launch"),
            (#"{"dailyEnergyHour": 24}"#, "dailyEnergyHour"),
            (#"{"frequencies": {"HKCorrelationTypeIdentifierBloodPressure": "hourly"}}"#, "frequencies"),
            (#"{"roundPatience": 5}"#, "roundPatience"),
        ])
    func whatItCanNotWorkWithIsRefused(_ options: String, _ key: String) throws {
        let folder = try TemporaryFolder()
        do {
            let stack = try stack(options, in: folder)
            _ = try DebouncerStage(stack: stack, instance: #require(stack.only(.debouncer)))
            Issue.record("taken: \(options)")
        } catch let error as ConfigurationError {
            #expect(error.file == folder.path + "/stack.json" && error.key.contains(key), "\(error)")
        }
    }

    /// All misspelled names are reported together, each with the one that was probably meant.
    @Test func everyUnknownNameIsNamed() throws {
        let folder = try TemporaryFolder()
        let stack = try stack(
            #"{"windows": {"StepCount": 3, "heartrate": 2, "steps": 1}, "frequencies": {"slep": "daily", "*": "hourly"}}"#,
            in: folder)
        let instance = try #require(stack.only(.debouncer))
        let thrown = #expect(throws: ConfigurationError.self) { try DebouncerStage(stack: stack, instance: instance) }
        let error = try #require(thrown)
        #expect(error.key.hasSuffix("windows.StepCount"))
        for words in [
            "did you mean HKQuantityTypeIdentifierStepCount?",
            "'windows.heartrate' (did you mean HKQuantityTypeIdentifierHeartRate?)",
            "'frequencies.slep' (did you mean sleep?)",
        ] { #expect(error.reason.contains(words), "\(error)") }
        #expect(!error.reason.contains("windows.steps"))
    }

    @Test func aTaskThatTheManifestDoesNotPermitIsRefused() throws {
        let folder = try TemporaryFolder()
        let stack = try stack(#"{"refreshMinutes": 60}"#, in: folder)
        var instance = try #require(stack.only(.debouncer))
        _ = try DebouncerStage(stack: stack, instance: instance)
        instance.manifest.rights.permittedTasks.remove("refresh")
        #expect(throws: ConfigurationError.self) { try DebouncerStage(stack: stack, instance: instance) }
    }

    @Test func theProfilesAreTaken() throws {
        let catalog = try PluginCatalog(folder: Checkout.root + "/plugins", programs: "/nowhere")
        let stack = try StackConfiguration(path: Checkout.root + "/configs/battery-friendly.json", catalog: catalog)
        _ = try DebouncerStage(stack: stack, instance: #require(stack.only(.debouncer)))
    }
}
