import BackgroundDelivery
import Configuration
import ConsolidatorStage
import DebouncerStage
import HealthModel
import MessageBus
import ObserverReading
import Protocol
import StageKit
import TestSupport
import Testing

/// The shipped configurations do what their names say.
@Suite struct ProfileTests {
    private static let steps = "HKQuantityTypeIdentifierStepCount"
    private static let energy = "HKQuantityTypeIdentifierActiveEnergyBurned"
    private static let heart = "HKQuantityTypeIdentifierHeartRate"
    private static let workout = HealthType.workoutIdentifier

    private func stack(_ profile: String?) throws -> StackConfiguration {
        try StackConfiguration(
            path: profile.map { "\(Checkout.root)/configs/\($0).json" },
            catalog: try PluginCatalog(folder: Checkout.root + "/plugins", programs: "/nowhere"))
    }

    private func options(_ kind: Manifest.Kind, of stack: StackConfiguration) throws -> Value {
        try #require(stack.only(kind)).configuration
    }

    private func limits(_ stack: StackConfiguration) throws -> SystemLimits {
        SystemLimits(configuration: try options(.observer, of: stack)["delivery"])
    }

    /// The frequency that a type gets in the background when a consumer asks for what the profile names.
    private func effective(_ types: [String: String], _ type: String, _ limits: SystemLimits) -> DeliveryFrequency? {
        var table = ObserverRegistrations(limits: limits)
        table.register(
            "app", launch: 1, types: types.compactMapValues(DeliveryFrequency.init(name:)), known: [String]())
        return table.effective(type)
    }

    @Test func withoutAProfileNothingIsHeldBack() throws {
        let stack = try stack(nil)
        #expect(try limits(stack) == SystemLimits())
        let debouncer = try options(.debouncer, of: stack)
        #expect(debouncer["launch"] == "self" && debouncer["strategy"] == "background-delivery")
        for kind in [Manifest.Kind.debouncer, .consolidator] {
            let options = try options(kind, of: stack)
            #expect(options["tasksNeedNetwork"] == false && options["tasksNeedPower"] == false)
        }
        // A Mac or a server has no lock and no battery, and is always on.
        let device = DeviceState()
        #expect(device.app == .active && !device.isLocked && device.isCharging && device.network == nil)
    }

    @Test func aPhoneClampsStepsGivesUpAfterThreeStrikesAndHoldsItsTasksForTheNetwork() throws {
        let stack = try stack("apple-like")
        let limits = try limits(stack)
        #expect(limits.strikesUntilStopped == 3 && limits.acknowledgeWithin == .seconds(15))
        #expect(limits.unlockReminderAfter == .seconds(3600) && limits.wakesPerHour == 0)
        // Only one type has a floor: Apple documents no others.
        #expect(limits.floor == .immediate && limits.floors == [Self.steps: .hourly])
        #expect(effective(["*": "immediate"], Self.steps, limits) == .hourly)
        let debouncer = try options(.debouncer, of: stack)
        #expect(
            debouncer["frequencies"]
                == ["*": "hourly", "workouts": "immediate", "heart-rate": "immediate", "sleep": "immediate"])
        #expect(debouncer["background"] == "task")
        for kind in [Manifest.Kind.debouncer, .consolidator] {
            let options = try options(kind, of: stack)
            #expect(options["tasksNeedNetwork"] == true && options["tasksNeedPower"] == false)
        }
    }

    /// On battery and without a network, a phone's tasks wait for the network alone: the sync from the moment it is
    /// submitted, the days' from 00:01.
    @Test func aPhonesTasksNeedANetworkAndNoPower() throws {
        let stack = try stack("apple-like")
        try check(
            DebouncerStage(stack: stack, instance: #require(stack.only(.debouncer))),
            waiting: ["healthkit-sync", "remote-sync", "daily-energy", "notification-check"])
        try check(
            ConsolidatorStage(stack: stack, instance: #require(stack.only(.consolidator))),
            waiting: ["consolidated-daily"])
    }

    private func check(_ stage: some Stage, waiting: Set<String>) throws {
        let rig = try StageRig { stage }
        func tasks(isOnline: Bool) throws -> [String: Value] {
            var device = DeviceState()
            device.app = .background
            device.isCharging = false
            device.network = NetworkPath(isSatisfied: isOnline, interface: isOnline ? .wifi : nil)
            try rig.hear(
                beat(
                    "observer", head(10), heads: [Self.steps: 10], frontier: [:], details: ["device": Value(device)]))
            for _ in 0..<6 { try rig.pass(.seconds(1)) }
            let rows = try rig.report().details["tasks"]?.array ?? []
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["id"].string ?? "", $0) })
        }
        _ = try tasks(isOnline: false)
        let pull = try #require(rig.pulls.first { $0.name == "zones" })
        let zones: Value = ["me": [[.null, "Europe/Berlin"]]]
        try rig.answer(pull, .pages([["zones": zones, "from": 0, "through": 10, "head": Value(head(10))]]))
        let midnight = try #require(InstantText.parse("2025-03-28T00:01:00+01:00"))
        let begins = [
            "healthkit-sync": Value.null, "daily-energy": Value(midnight), "consolidated-daily": Value(midnight),
        ]
        let before = try tasks(isOnline: false)
        for task in waiting {
            guard let begins = begins[task] else { continue }
            #expect(before[task]?["request"]["earliestBegin"] == begins, "\(task)")
        }
        try rig.pass(.seconds(86_400))
        let offline = try tasks(isOnline: false)
        for task in waiting {
            #expect(offline[task]?["waitsFor"].string == TaskObstacle.noNetwork.rawValue, "\(task)")
            #expect(offline[task]?["request"]["network"] == true && offline[task]?["request"]["power"] == false)
            #expect(offline[task]?["history"]["runs"].int ?? 0 == 0, "\(task)")
        }
        let online = try tasks(isOnline: true)
        for task in waiting { #expect(online[task]?["history"]["runs"] == 1, "\(task)") }
    }

    /// The frequencies requested from the observer, by type.
    @Test func aPhonesAppAsksForWorkoutsAndHeartRateAtOnceAndForTheRestHourly() throws {
        let stack = try stack("apple-like")
        let debouncer = try DebouncerStage(stack: stack, instance: try #require(stack.only(.debouncer)))
        let rig = try StageRig { debouncer }
        try rig.pass(.seconds(1))
        let asked = try #require(rig.sent.last { $0.topic == "control.observer" }?.body["types"])
        let types = (asked.object ?? [:]).compactMapValues(\.string)
        let limits = try limits(stack)
        for type in [Self.workout, Self.heart] { #expect(effective(types, type, limits) == .immediate) }
        for type in [Self.steps, Self.energy, "HKQuantityTypeIdentifierBodyMass"] {
            #expect(effective(types, type, limits) == .hourly)
        }
    }

    @Test func aWatchIsHourlyButForEventsAndHasFourWakesAnHour() throws {
        let stack = try stack("watch-like")
        #expect(stack.only(.debouncer)?.configuration["refreshMinutes"] == 60)
        let limits = try limits(stack)
        #expect(limits.floor == .hourly && limits.wakesPerHour == 4 && limits.strikesUntilStopped == 3)
        for type in [Self.heart, Self.workout, Self.energy] {
            #expect(effective(["*": "immediate"], type, limits) == .hourly)
        }
        #expect(
            effective(["*": "immediate"], "HKCategoryTypeIdentifierIrregularHeartRhythmEvent", limits) == .immediate)
        for type in limits.floors.keys { #expect(HealthType.known(type) != nil, "\(type)") }
    }

    /// On the screen, or on a machine that is always on: ten minutes of a walk with a heart rate every five seconds.
    @Test func longerWindowsMakeFewerSyncs() throws {
        func syncs(_ profile: String?) throws -> Int {
            let stack = try stack(profile)
            let debouncer = try DebouncerStage(stack: stack, instance: try #require(stack.only(.debouncer)))
            let rig = try StageRig { debouncer }
            var sequence: Int64 = 1
            var heads: [String: SequenceNumber] = [:]
            for second in 0..<900 {
                if second < 600, second % 5 == 0 {
                    sequence += 1
                    heads[second % 20 == 0 ? Self.steps : Self.heart] = SequenceNumber(sequence)
                    try rig.hear(beat("observer", head(sequence), heads: heads))
                }
                try rig.pass(.seconds(1))
            }
            let releases = rig.sent.filter { $0.topic == "sync.uploader" }
                .compactMap { $0.body["released"].read(AnchorVector.self) }
            #expect(releases.last == AnchorVector(base: SequenceNumber(sequence)), "in the end everything is released")
            return rig.log.fields(of: .debounceFinished).count
        }
        let (usual, spared) = (try syncs(nil), try syncs("battery-friendly"))
        #expect(usual >= 100 && spared <= usual / 10 && spared > 0, "\(usual), \(spared)")
    }

    @Test func theManifestsPermitTheTasksAndModesThatTheyNeed() throws {
        let rights = try Checkout.manifest("debouncer").rights
        #expect(rights.permittedTasks == Set(DebouncerTask.allCases.map(\.rawValue)))
        #expect(rights.backgroundModes == Set(PluginRights.BackgroundMode.allCases))
        let consolidator = try Checkout.manifest("consolidator").rights
        #expect(consolidator.permittedTasks == ["consolidated-daily"] && consolidator.backgroundModes == [.processing])
    }

    @Test func onABatteryEachMetricHasAWindowOfItsOwn() throws {
        let stack = try stack("battery-friendly")
        let windows: [(String, Int64)] = [
            ("HKQuantityTypeIdentifierBodyMass", 300), (Self.steps, 30), (Self.heart, 60),
        ]
        for (type, seconds) in windows {
            let debouncer = try DebouncerStage(stack: stack, instance: try #require(stack.only(.debouncer)))
            let rig = try StageRig { debouncer }
            func released() -> SequenceNumber? {
                rig.sent.last { $0.topic == "sync.uploader" }
                    .flatMap { $0.body["released"].read(AnchorVector.self) }?[type]
            }
            try rig.hear(beat("observer", head(10), heads: [type: 10]))
            try rig.pass(.seconds(seconds - 1))
            #expect(released() ?? 0 < 10, "\(type)")
            try rig.pass(.seconds(1))
            #expect(released() == 10, "\(type)")
        }
    }
}
