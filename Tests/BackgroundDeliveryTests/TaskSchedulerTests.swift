import BackgroundDelivery
import HealthModel
import TestSupport
import Testing

@Suite struct TaskSchedulerTests {
    private static let start = Instant(seconds: 1_743_069_600)

    private func scheduler(
        _ launcher: TaskScheduler.Launcher = .own,
        tasks: [String: TaskKind] = ["sync": .processing, "refresh": .refresh]
    ) throws -> TaskScheduler {
        var scheduler = TaskScheduler(
            permitted: Set(tasks.keys), backgroundModes: ["processing", "fetch"], launcher: launcher)
        for (identifier, kind) in tasks { try scheduler.register(identifier, kind) }
        return scheduler
    }

    private func after(_ seconds: Int64, _ change: (inout DeviceState) -> Void = { _ in }) -> TaskConditions {
        var device = DeviceState()
        device.app = .background
        change(&device)
        return TaskConditions(
            now: Self.start + .seconds(seconds), monotonic: .seconds(seconds), device: device)
    }

    private func refusal(_ body: () throws -> Void) -> DeliveryError.Code? {
        do { try body() } catch { return (error as? DeliveryError)?.code }
        return nil
    }

    @Test func anIdentifierIsRegisteredOnce() throws {
        var scheduler = try scheduler()
        #expect(refusal { try scheduler.register("sync", .processing) } == .alreadyRegistered)
    }

    @Test(arguments: [("other", TaskKind.processing), ("sync", .refresh)])
    func whatTheManifestDoesNotNameIsNotPermitted(_ identifier: String, _ kind: TaskKind) {
        var scheduler = TaskScheduler(permitted: ["sync"], backgroundModes: ["processing"], launcher: .own)
        #expect(refusal { try scheduler.register(identifier, kind) } == .notPermitted)
    }

    @Test func whatIsNotRegisteredIsNotTaken() throws {
        var scheduler = TaskScheduler(permitted: ["sync"], backgroundModes: ["processing"], launcher: .own)
        #expect(refusal { try scheduler.submit(TaskRequest("sync"), after(0)) } == .notRegistered)
        #expect(refusal { try scheduler.submit(TaskRequest("other"), after(0)) } == .notPermitted)
        #expect(refusal { _ = try scheduler.launch("sync", after(0)) } == .notRegistered)
    }

    @Test func aSecondRequestReplacesTheFirst() throws {
        var scheduler = try scheduler()
        try scheduler.submit(TaskRequest("sync", earliestBegin: Self.start + .seconds(60)), after(0))
        try scheduler.submit(TaskRequest("sync", requiresPower: true), after(1))
        #expect(scheduler.request("sync") == TaskRequest("sync", requiresPower: true))
    }

    @Test func oneRefreshAndTenProcessingRequestsMayBePending() throws {
        let names = (0...10).map { "p\($0)" }
        var tasks = Dictionary(uniqueKeysWithValues: names.map { ($0, TaskKind.processing) })
        tasks["r1"] = .refresh
        tasks["r2"] = .refresh
        var scheduler = try scheduler(.device, tasks: tasks)
        for name in names.dropLast() { try scheduler.submit(TaskRequest(name), after(0)) }
        #expect(refusal { try scheduler.submit(TaskRequest("p10"), after(0)) } == .tooManyPendingTaskRequests)
        // A request for a task that is already pending takes up no additional place.
        try scheduler.submit(TaskRequest("p3"), after(0))
        try scheduler.submit(TaskRequest("r1"), after(0))
        #expect(refusal { try scheduler.submit(TaskRequest("r2"), after(0)) } == .tooManyPendingTaskRequests)
        _ = try scheduler.launch("p0", after(0))
        try scheduler.submit(TaskRequest("p10"), after(0))
        #expect(names.filter(scheduler.isPending) == Array(names.dropFirst()) && scheduler.isPending("r1"))
    }

    @Test func theEarliestBeginIsALowerBound() throws {
        var scheduler = try scheduler()
        try scheduler.submit(TaskRequest("sync", earliestBegin: Self.start + .seconds(60)), after(0))
        #expect(scheduler.beginDue(after(59)) == [])
        #expect(scheduler.nextDeadline(after(59)) == .seconds(60))
        // A much later time doesn't change the result.
        #expect(scheduler.beginDue(after(4000)) == ["sync"])
    }

    @Test(arguments: [TaskObstacle.noNetwork, .noPower, .lowPowerMode, .deferred, .forceQuit])
    func waitsForItsConditions(_ obstacle: TaskObstacle) throws {
        let change: (inout DeviceState) -> Void = { device in
            switch obstacle {
            case .noNetwork: device.network = NetworkPath(isSatisfied: false, interface: nil)
            case .noPower: device.isCharging = false
            case .lowPowerMode: device.isLowPowerMode = true
            case .deferred: device.isDeferring = true
            default: device.app = .forceQuit
            }
        }
        var scheduler = try scheduler()
        try scheduler.submit(TaskRequest("sync", requiresNetwork: true, requiresPower: true), after(0))
        #expect(scheduler.obstacle("sync", after(1, change)) == obstacle)
        #expect(scheduler.beginDue(after(1, change)) == [])
        #expect(try scheduler.launch("sync", after(1, change)) == obstacle)
        // A launch by a debugger ignores all obstacles but one: an app that its user has swiped away can't be launched.
        #expect(
            try scheduler.launch("sync", forced: true, after(1, change)) == (obstacle == .forceQuit ? obstacle : nil))
        #expect(scheduler.isRunning("sync") == (obstacle != .forceQuit))
    }

    @Test(
        arguments: [
            (MachineState(isCharging: false, batteryLevel: 0.15), TaskObstacle.lowBattery),
            (MachineState(isCharging: true, batteryLevel: 0.15, load: 1.2), .busy),
            (MachineState(isCharging: true, batteryLevel: 0.15, load: 0.9), nil), (MachineState(), nil),
        ] as [(MachineState, TaskObstacle?)])
    func aTaskWaitsForAnIdleMachineIfAskedTo(_ machine: MachineState, _ obstacle: TaskObstacle?) throws {
        var scheduler = try scheduler()
        for name in ["sync", "refresh"] { try scheduler.submit(TaskRequest(name), after(0)) }
        var conditions = after(1)
        conditions.machine = machine
        #expect(scheduler.obstacle("sync", conditions) == nil)
        conditions.needsIdleMachine = true
        #expect(scheduler.obstacle("sync", conditions) == obstacle)
        // The system gives an app refresh its time even on a busy machine.
        #expect(scheduler.obstacle("refresh", conditions) == nil)
    }

    @Test func aMachineOnBatteryHoldsBackWhatNeedsPower() throws {
        var scheduler = try scheduler()
        try scheduler.submit(TaskRequest("sync", requiresPower: true), after(0))
        var conditions = after(1)
        conditions.machine = MachineState(isCharging: false, batteryLevel: 0.9)
        #expect(scheduler.obstacle("sync", conditions) == .noPower)
        conditions.machine?.isCharging = true
        #expect(scheduler.obstacle("sync", conditions) == nil)
    }

    @Test func aRefreshWaitsForTheHoursWakes() throws {
        var scheduler = try scheduler(tasks: ["refresh": .refresh, "sync": .processing])
        for name in ["refresh", "sync"] { try scheduler.submit(TaskRequest(name), after(0)) }
        var background = after(1) { $0.app = .background }
        background.nextWake = Self.start + .seconds(600)
        #expect(scheduler.obstacle("refresh", background) == .noWakes)
        #expect(scheduler.nextDeadline(background) == .seconds(600))
        // Other tasks need no wake, and an app on the screen isn't woken.
        #expect(scheduler.beginDue(background) == ["sync"])
        var active = after(1) { $0.app = .active }
        active.nextWake = background.nextWake
        #expect(scheduler.obstacle("refresh", active) == nil)
        #expect(scheduler.beginDue(after(600) { $0.app = .background }) == ["refresh"])
    }

    /// In low-power mode, only a task that its user started and is watching is launched.
    @Test func inLowPowerModeNothingIsLaunched() throws {
        let saving = after(0) {
            $0.app = .active
            $0.isLowPowerMode = true
        }
        var scheduler = try scheduler(tasks: ["sync": .processing, "refresh": .refresh, "history": .continued])
        for name in ["sync", "refresh", "history"] { try scheduler.submit(TaskRequest(name), saving) }
        #expect(scheduler.beginDue(saving) == ["history"])
        #expect(scheduler.obstacle("refresh", saving) == .lowPowerMode)
        #expect(scheduler.beginDue(after(1)) == ["refresh", "sync"])
    }

    @Test func conditionsHoldOnlyWhoAskedForThem() throws {
        var scheduler = try scheduler()
        try scheduler.submit(TaskRequest("sync"), after(0))
        let poor = after(0) {
            $0.isCharging = false
            $0.network = NetworkPath(isSatisfied: false, interface: nil)
        }
        #expect(scheduler.beginDue(poor) == ["sync"])
    }

    @Test func theDeviceAloneLaunchesWhereItIsAskedTo() throws {
        var scheduler = try scheduler(.device)
        try scheduler.submit(TaskRequest("sync"), after(0))
        #expect(scheduler.beginDue(after(10_000)) == [])
        #expect(try scheduler.launch("sync", after(10_000)) == nil)
        #expect(scheduler.runningIdentifiers == ["sync"])
    }

    @Test(arguments: [("refresh", 30 as Int64), ("sync", 600)])
    func aRuntimeEndsWithTheExpirationHandler(_ identifier: String, _ seconds: Int64) throws {
        var scheduler = try scheduler()
        try scheduler.submit(TaskRequest(identifier), after(0))
        #expect(scheduler.beginDue(after(0)) == [identifier])
        #expect(scheduler.expire(after(seconds - 1)) == [])
        #expect(scheduler.expire(after(seconds)) == [identifier])
        // The task is asked to expire only once.
        #expect(scheduler.expire(after(seconds + 1)) == [])
        var inTime = scheduler
        inTime.complete(identifier, success: true, after(seconds + 1))
        #expect(inTime.history(identifier).lastOutcome == .expired)
        #expect(scheduler.endOverrun(after(seconds + 4)) == [])
        #expect(scheduler.endOverrun(after(seconds + 5)) == [identifier])
        #expect(scheduler.history(identifier).lastOutcome == .overran && !scheduler.isRunning(identifier))
        let completed = scheduler.complete(identifier, success: true, after(seconds + 6))
        #expect(!completed)
    }

    @Test func completionSaysHowItWent() throws {
        var scheduler = try scheduler()
        for (success, outcome) in [(true, TaskHistory.Outcome.succeeded), (false, .failed)] {
            try scheduler.submit(TaskRequest("sync"), after(0))
            _ = scheduler.beginDue(after(0))
            scheduler.complete("sync", success: success, after(7))
            #expect(scheduler.history("sync").lastOutcome == outcome)
        }
        #expect(scheduler.history("sync").runs == 2 && scheduler.history("sync").lastDuration == 7_000_000)
    }

    @Test func aContinuedTaskGoesOnUntilItIsDone() throws {
        var scheduler = try scheduler(.device, tasks: ["one": .continued, "two": .continued])
        #expect(refusal { try scheduler.submit(TaskRequest("one"), after(0)) } == .notPermitted)
        let active = after(0) { $0.app = .active }
        try scheduler.submit(TaskRequest("one", title: "History", subtitle: "90 days"), active)
        #expect(scheduler.beginDue(active) == ["one"])
        #expect(
            refusal { try scheduler.submit(TaskRequest("two", strategy: .fail), active) } == .immediateRunIneligible
        )
        try scheduler.submit(TaskRequest("two", strategy: .queue), active)
        #expect(scheduler.beginDue(active) == [] && scheduler.obstacle("two", active) == .queued)
        // Such a task has no runtime limit, and isn't ended when the app goes to the background.
        #expect(scheduler.expire(after(100_000)) == [])
        scheduler.report(TaskProgress(done: 3, total: 12), of: "one")
        #expect(scheduler.progress("one") == TaskProgress(done: 3, total: 12))
        let wasRunning = scheduler.cancelRunning("one", after(100_000))
        #expect(wasRunning)
        #expect(scheduler.history("one").lastOutcome == .cancelled)
        #expect(scheduler.beginDue(after(100_000)) == ["two"])
    }

    @Test func aTaskThatRanWhenItsProcessDiedIsPendingAgain() throws {
        var scheduler = try scheduler()
        try scheduler.submit(TaskRequest("sync", requiresNetwork: true), after(0))
        _ = scheduler.beginDue(after(0))
        // The task first submits its next run, as it should.
        try scheduler.submit(TaskRequest("sync", earliestBegin: Self.start + .seconds(900)), after(1))
        var again = try self.scheduler()
        again.restore(scheduler.rows)
        #expect(again.request("sync") == TaskRequest("sync", requiresNetwork: true))
        #expect(again.beginDue(after(2)) == ["sync"])
        #expect(again.history("sync").runs == 2)
    }

    /// Whatever happens, and in whatever order, the limits hold, and a request ends only by completion, replacement or
    /// cancellation.
    @Test(arguments: 0..<40 as Range<UInt64>) func nothingIsLost(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var tasks = Dictionary(uniqueKeysWithValues: (0..<12).map { ("p\($0)", TaskKind.processing) })
        for name in ["r0", "r1"] { tasks[name] = .refresh }
        let names = tasks.keys.sorted()
        var scheduler = try scheduler(seed.isMultiple(of: 2) ? .own : .device, tasks: tasks)
        /// The tasks that must be pending or running.
        var owed: Set<String> = []
        var clock: Int64 = 0
        for _ in 0..<400 {
            clock += Int64.random(in: 0...40, using: &random)
            let now = after(clock) { $0.isLowPowerMode = seed.isMultiple(of: 3) && clock % 7 == 0 }
            let name = names[Int.random(in: names.indices, using: &random)]
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1:
                let delay = Duration.seconds(Int64.random(in: 0...100, using: &random))
                if refusal({ try scheduler.submit(TaskRequest(name, earliestBegin: now.now + delay), now) }) == nil {
                    owed.insert(name)
                }
            case 2: _ = scheduler.beginDue(now)
            case 3: if scheduler.isPending(name) { _ = try scheduler.launch(name, now) }
            case 4:
                if scheduler.complete(name, success: true, now), !scheduler.isPending(name) { owed.remove(name) }
            case 5:
                if scheduler.cancel(name), !scheduler.isRunning(name) { owed.remove(name) }
            default:
                var again = try self.scheduler(scheduler.launcher, tasks: tasks)
                again.restore(scheduler.rows)
                #expect(again.runningIdentifiers == [])
                scheduler = again
            }
            _ = scheduler.expire(now)
            for late in scheduler.endOverrun(now) where !scheduler.isPending(late) { owed.remove(late) }
            let held = tasks.keys.filter { scheduler.isPending($0) || scheduler.isRunning($0) }
            try #require(Set(held) == owed)
            for kind in TaskKind.allCases {
                guard let limit = kind.pendingLimit else { continue }
                try #require(scheduler.submittedCount(kind) <= limit)
            }
        }
    }
}
