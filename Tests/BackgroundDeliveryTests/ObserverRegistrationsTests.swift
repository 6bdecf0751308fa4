import BackgroundDelivery
import HealthModel
import TestSupport
import Testing

/// A table of registrations; the test sets its clocks, device and heads.
final class DeliveryBench {
    static let second = Duration.seconds(1)
    static let hour = Duration.seconds(3600)

    var table: ObserverRegistrations
    var device = DeviceState()
    var heads: [String: SequenceNumber] = [:]
    var head: SequenceNumber = 100
    var now = Instant(seconds: 1_743_069_600)
    var monotonic: MonotonicTime = 0
    var launch: Int64 = 0

    init(_ change: (inout SystemLimits) -> Void = { _ in }) {
        var limits = SystemLimits()
        change(&limits)
        table = ObserverRegistrations(limits: limits)
    }

    @discardableResult
    func register(_ types: [String: DeliveryFrequency] = ["*": .immediate], launch new: Int64? = nil) -> Bool {
        launch = new ?? launch + 1
        return table.register(
            "app", launch: launch, types: types, known: heads.keys, inBackground: device.app != .active)
    }

    /// Commits changes to types, then lets the table decide what fires.
    @discardableResult
    func change(_ types: String...) -> ObserverRegistrations.Round {
        let before = head
        for type in types {
            head = head.next
            heads[type] = head
        }
        table.changed(types, since: before)
        return look()
    }

    @discardableResult
    func look() -> ObserverRegistrations.Round {
        table.fires(heads: heads, device: device, at: now, monotonic: monotonic)
    }

    @discardableResult
    func pass(_ time: Duration) -> ObserverRegistrations.Round {
        now += time
        monotonic += time
        return look()
    }

    func acknowledge(_ type: String) {
        table.acknowledge("app", [type: heads[type] ?? 0], monotonic: monotonic)
    }

    @discardableResult
    func enter(_ app: DeviceState.AppState) -> ObserverRegistrations.Round {
        if app == .active, device.app != .active { table.enteredForeground(known: heads.keys) }
        if app == .forceQuit { table.forceQuit() }
        device.app = app
        return look()
    }

    /// Simulates a new process that reads what this one has saved.
    func restart() throws {
        let kept = try #require(Value(table.kept).read(KeptRegistrations.self))
        table = ObserverRegistrations(kept, limits: table.limits)
    }

    var deadline: MonotonicTime? { table.nextDeadline(device: device, at: now, monotonic: monotonic) }
}

extension ObserverRegistrations.Round {
    var types: [String] { fires.map(\.type) }
}

@Suite struct ObserverRegistrationsTests {
    private let second = Duration.seconds(1)
    private let hour = DeliveryBench.hour

    @Test func onTheScreenEveryChangeFiresAtOnceWhateverTheFrequency() {
        let bench = DeliveryBench { $0.floors["steps"] = .hourly }
        bench.register(["*": .daily])
        for _ in 0..<3 { #expect(bench.change("steps").types == ["steps"]) }
        #expect(bench.table.held.isEmpty && bench.deadline == nil)
        // Types fire even if no consumer is registered for background delivery, because the query is running.
        let other = DeliveryBench()
        #expect(other.change("steps").types == ["steps"])
    }

    @Test func immediateOnTheScreenSavesNothing() {
        let bench = DeliveryBench()
        bench.register()
        bench.look()
        bench.table.saved()
        bench.change("steps", "heart")
        #expect(!bench.table.needsSaving && bench.table.isWorthSaving)
    }

    @Test func aFasterRequestIsAcceptedAndClamped() {
        let bench = DeliveryBench { $0.floors["steps"] = .hourly }
        bench.register(["steps": .immediate, "weight": .daily])
        #expect(bench.table.requested("steps") == .immediate && bench.table.effective("steps") == .hourly)
        #expect(bench.table.requested("weight") == .daily && bench.table.effective("weight") == .daily)
        #expect(bench.table.effective("heart") == nil)
    }

    @Test func inTheBackgroundATypeFiresOncePerPeriod() throws {
        let bench = DeliveryBench { $0.floors["steps"] = .hourly }
        bench.register()
        bench.enter(.background)
        #expect(bench.change("steps").types == ["steps"])
        bench.acknowledge("steps")
        #expect(bench.change("steps").types.isEmpty)
        // The held position stays where the last fire left it, even after a restart.
        let fired = try #require(bench.table.held["steps"])
        #expect(fired < bench.head)
        try bench.restart()
        #expect(bench.table.held["steps"] == fired)
        #expect(bench.deadline == bench.monotonic + .seconds(3600))
        #expect(bench.pass(hour - .microseconds(1)).types.isEmpty)
        #expect(bench.pass(.microseconds(1)).types == ["steps"])
        #expect(bench.table.held.isEmpty)
    }

    @Test func aClockThatIsPutBackHoldsATypeNoLongerThanItsPeriod() {
        let bench = DeliveryBench { $0.floors["steps"] = .hourly }
        bench.register()
        bench.enter(.background)
        bench.change("steps")
        bench.acknowledge("steps")
        bench.now += .zero - 48 * hour
        bench.change("steps")
        #expect(bench.pass(hour).types == ["steps"])
    }

    @Test func allTypesThatAreDueAreOneWake() {
        let bench = DeliveryBench { $0.wakesPerHour = 2 }
        bench.register()
        bench.enter(.background)
        #expect(bench.change("steps", "heart", "sleep").types == ["heart", "sleep", "steps"])
        for type in ["heart", "sleep", "steps"] { bench.acknowledge(type) }
        bench.pass(60 * second)
        #expect(bench.change("steps").types == ["steps"])
        bench.acknowledge("steps")
        // The wakes for this hour are used up; the next wake is allowed one hour after the first one.
        #expect(bench.change("heart").types.isEmpty)
        #expect(bench.deadline == bench.monotonic + .seconds(3540))
        #expect(bench.pass(hour - 61 * second).types.isEmpty)
        #expect(bench.pass(second).types == ["heart"])
    }

    @Test func aNewLaunchFiresEachRegisteredTypeOnce() {
        let bench = DeliveryBench { $0.floor = .daily }
        bench.enter(.background)
        bench.heads = ["steps": 90, "heart": 95]
        #expect(bench.register(["steps": .immediate]))
        #expect(bench.look().types == ["steps"])
        bench.acknowledge("steps")
        // Repeating the same registration doesn't count as a new registration.
        #expect(!bench.register(["steps": .immediate], launch: bench.launch))
        #expect(bench.look().types.isEmpty)
        // A type that is added in the same launch fires on its own.
        #expect(bench.register(["steps": .immediate, "heart": .hourly], launch: bench.launch))
        #expect(bench.look().types == ["heart"])
        bench.register(["steps": .immediate, "heart": .hourly])
        #expect(bench.look().types == ["heart", "steps"])
    }

    @Test func enteringTheForegroundFiresEveryObserverAlsoWithoutAChange() {
        let bench = DeliveryBench()
        bench.change("steps", "heart")
        bench.enter(.background)
        #expect(bench.enter(.active).types == ["heart", "steps"])
        #expect(bench.look().types.isEmpty)
    }

    @Test func nothingFiresWhileLockedAndWhatIsDueFiresOnUnlock() throws {
        let bench = DeliveryBench { $0.unlockReminderAfter = .seconds(3600) }
        bench.register()
        bench.look()
        bench.device.isLocked = true
        #expect(bench.change("steps").types.isEmpty)
        #expect(!bench.table.isUnlockOverdue(at: bench.now))
        try bench.restart()
        #expect(bench.deadline == bench.monotonic + .seconds(3600))
        #expect(bench.pass(hour).types.isEmpty)
        #expect(bench.table.isUnlockOverdue(at: bench.now))
        bench.device.isLocked = false
        #expect(bench.look().types == ["steps"])
        #expect(!bench.table.isUnlockOverdue(at: bench.now))
    }

    @Test(arguments: [DeviceState.AppState.background, .terminated])
    func onUnlockOnlyWhatIsDue(_ app: DeviceState.AppState) {
        let bench = DeliveryBench { $0.floors["steps"] = .hourly }
        bench.register()
        bench.enter(app)
        bench.change("steps")
        bench.acknowledge("steps")
        bench.device.isLocked = true
        bench.change("steps", "heart")
        bench.device.isLocked = false
        #expect(bench.pass(60 * second).types == ["heart"])
    }

    @Test func aForceQuitAppAndADeferringSystemFireNothing() {
        let bench = DeliveryBench()
        bench.register()
        bench.enter(.forceQuit)
        #expect(bench.change("steps").types.isEmpty)
        bench.enter(.background)
        #expect(bench.table.held.isEmpty)
        bench.device.isDeferring = true
        #expect(bench.change("steps").types.isEmpty && bench.deadline != nil)
        bench.device.isDeferring = false
        #expect(bench.look().types == ["steps"])
    }

    @Test func aChangedTypeThatNobodyHearsIsReportedOnce() {
        let bench = DeliveryBench()
        bench.enter(.background)
        #expect(bench.change("steps").unheard == ["steps"])
        #expect(bench.change("steps").unheard.isEmpty)
        #expect(bench.change("steps").fires.isEmpty)
        bench.register()
        #expect(bench.look().types == ["steps"])
    }

    @Test func aTypeThatIsOffStaysWhereItWasAndGoesOnFromThere() throws {
        let bench = DeliveryBench()
        bench.register()
        bench.change("steps")
        let stood = bench.head
        bench.table.setOff(true, "steps", head: bench.head)
        #expect(bench.change("steps", "heart").types == ["heart"])
        try bench.restart()
        #expect(bench.table.held["steps"] == stood && bench.table.silenced == ["steps"])
        bench.register()
        #expect(bench.enter(.active).types == ["heart"])
        bench.table.setOff(false, "steps", head: bench.head)
        #expect(bench.look().types == ["steps"])
        #expect(bench.table.held.isEmpty)
        // Switched off and on without a change in between, so there is nothing to report.
        bench.table.setOff(true, "steps", head: bench.head)
        bench.table.setOff(false, "steps", head: bench.head)
        #expect(bench.look().types.isEmpty && bench.table.held.isEmpty)
    }

    @Test func aDenialIsNotDistinguished() {
        let bench = DeliveryBench()
        #expect(bench.table.authorization("steps", for: "app") == .notDetermined)
        bench.register(["steps": .immediate])
        #expect(bench.table.authorization("steps", for: "app") == .requested)
        bench.table.setDenied(true, "steps", head: bench.head)
        #expect(bench.table.authorization("steps", for: "app") == .denied)
        #expect(bench.change("steps").types.isEmpty)
        // Registering again doesn't lift the denial.
        bench.register(["steps": .immediate])
        #expect(bench.look().types.isEmpty)
        #expect(bench.table.state("steps") == .on)
        bench.table.setDenied(false, "steps", head: bench.head)
        #expect(bench.look().types == ["steps"])
    }

    @Test func aFrequencySetByHandGoesBeforeTheRequest() throws {
        let bench = DeliveryBench()
        bench.register(["steps": .immediate])
        bench.table.setFrequency(.daily, "steps")
        try bench.restart()
        #expect(bench.table.requested("steps") == .daily)
        // Back to what the app asks for, after another restart too.
        bench.table.setFrequency(nil, "steps")
        #expect(bench.table.needsSaving)
        try bench.restart()
        #expect(bench.table.requested("steps") == .immediate && bench.table.namedTypes == ["steps"])
    }
}
