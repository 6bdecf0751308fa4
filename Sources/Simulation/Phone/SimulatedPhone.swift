import BackgroundDelivery
import Configuration
import DeliveryKit
import HTTP
import HealthModel
import ObserverStage
import Protocol
import StageKit
import UploaderStage

/// A phone running the stack: the observer belongs to the phone and always runs; all other stages are the app, and run
/// only while the phone gives it time.
package final class SimulatedPhone {
    /// Deviations from a normal life, for one that tests a single ability.
    package struct Probe: Sendable, Equatable {
        /// Locked throughout.
        package var staysLocked = false
        /// The app's state at the start; it is never opened. nil: it is used as usual.
        package var app: DeviceState.AppState?

        package init(staysLocked: Bool = false, app: DeviceState.AppState? = nil) {
            (self.staysLocked, self.app) = (staysLocked, app)
        }
    }

    let world: SimulatedWorld
    let life: PhoneLife
    let strategy: DeliveryStrategy
    let model: DeferralModel
    let probe: Probe
    let observer: SimulatedHost
    let app: [SimulatedHost]

    var device = DeviceState()
    /// The state last reported to the stack.
    private var told: DeviceState?
    var isInSleepFocus = false
    /// No longer force-quit, killed, locked or offline: the day of grace.
    var isFaultless = false
    var run: BackgroundRun?
    var runs = 0
    var wakes = 0
    var runTime = Duration.zero
    /// How many deliveries are left today, and whether a change is waiting for one.
    var deliveriesLeft = 0
    var hasChange = false
    var isDeliveryPlanned = false
    var waitsForUnlock = false
    var random: [WakeKind: SimulatedRandom]

    package private(set) var ledger = SampleLedger()
    var log = DeliveryLog()
    var naive = NaiveSync()
    /// The true time when the simulated clock stood at 0.
    private let epoch: Instant
    private static let firstUse = Duration.seconds(10)

    /// - Parameter configuration: as `healthbus up` reads it.
    package init(
        _ configuration: StackConfiguration, life: PhoneLife, strategy: DeliveryStrategy, model: DeferralModel,
        probe: Probe = Probe()
    ) throws {
        let start = life.start(of: 0)
        let world = try SimulatedWorld(seed: life.options.seed, wall: start)
        world.isSteady = true
        epoch = start - .microseconds(world.monotonic.microseconds)
        (self.world, self.life, self.strategy, self.model, self.probe) = (world, life, strategy, model, probe)
        random = Dictionary(
            uniqueKeysWithValues: WakeKind.allCases.enumerated().map { number, kind in
                (kind, SimulatedRandom(seed: life.options.seed, subject: 100, number: number))
            })
        let builder = StageBuilder(configuration: configuration, zone: life.options.home, seed: life.options.seed)
        let hosts = try configuration.instances.compactMap { try builder.host($0, in: world) }
        guard let observer = hosts.first(where: { $0.plugin == "observer" }) else {
            throw ConfigurationError(
                file: configuration.file, key: "instances", reason: "names no observer; a simulation needs one")
        }
        self.observer = observer
        app = strategy == .naive ? [] : hosts.filter { $0 !== observer }
        world.hosts = [observer] + app
        world.effects = { [unowned self] in try perform($0, of: $1) }
        world.witness = { [unowned self] in if $0.hasPrefix("observed.") { fired() } }
    }

    /// The true time.
    var now: Instant { Instant(microseconds: world.monotonic.microseconds + epoch.microseconds) }

    var inputs: DeferralModel.Inputs {
        var inputs = DeferralModel.Inputs()
        inputs.battery = device.batteryLevel
        inputs.isCharging = device.isCharging
        inputs.isLowPower = device.isLowPowerMode
        inputs.isSleepFocus = isInSleepFocus
        inputs.opensPerDay = probe.app == nil ? life.options.opensPerDay : 0
        return inputs
    }

    func at(_ time: Instant, _ action: @escaping () throws -> Void) {
        world.schedule(.action(action), after: time - now)
    }

    /// Simulates all days, and a day of grace without faults.
    /// - Parameter progress: the number of days that are over.
    package func live(progress: (Int) -> Void = { _ in }) throws {
        device.isCharging = true
        device.isDeferring = true
        if strategy != .naive { try observer.start() }
        // Every app is opened once, after it has been installed.
        try openApp()
        try world.run(for: Self.firstUse)
        try closeApp()
        try world.run(for: Self.firstUse)
        device.isLocked = true
        if let app = probe.app, app != .background { endApp(app) }
        tell()
        for day in 0..<life.options.days {
            try begin(day)
            try world.run(for: life.start(of: day + 1) - now)
            progress(day + 1)
        }
        try endFaults()
        try world.run(for: PhoneLife.hour * 24)
    }

    private func begin(_ day: Int) throws {
        for timed in life.events(of: day) { at(timed.at) { [unowned self] in try happen(timed.event) } }
        planWakes(from: life.start(of: day), to: life.start(of: day + 1))
    }

    /// Unlocked, on power and on a network; the app is opened once.
    private func endFaults() throws {
        isFaultless = true
        device.isLocked = probe.staysLocked
        device.isCharging = true
        device.isLowPowerMode = false
        device.batteryLevel = 1
        device.network = NetworkPath(isSatisfied: true, interface: .wifi)
        isInSleepFocus = false
        world.wallOffset = epoch
        tell()
        planWakes(from: now, to: now + PhoneLife.hour * 24)
        guard probe.app == nil else { return }
        at(now + PhoneLife.hour * 20) { [unowned self] in try openApp() }
        at(now + PhoneLife.hour * 21) { [unowned self] in try closeApp() }
    }

    // MARK: What happens

    private func happen(_ event: PhoneEvent) throws {
        defer { tell() }
        switch event {
        // Anything that reaches the phone after the span isn't counted: there may be no wake left for it.
        case .arrive where isFaultless: return
        case .arrive(let added, let deleted): try arrive(added, deleted)
        case .clock(let offset): world.wallOffset = isFaultless ? epoch : epoch + offset
        case _ where isFaultless: return
        case .lock: device.isLocked = true
        case .unlock:
            guard !probe.staysLocked else { return }
            device.isLocked = false
            tell()
            if waitsForUnlock { try deliverNow() }
        case .charging(let isOn): device.isCharging = isOn
        case .battery(let level): device.batteryLevel = level
        case .lowPower(let isOn): device.isLowPowerMode = isOn
        case .sleepFocus(let isOn):
            isInSleepFocus = isOn
            device.isSleepMode = isOn
        case .network(let path): device.network = path
        case .openApp: if probe.app == nil { try openApp() }
        case .closeApp: if probe.app == nil { try closeApp() }
        case .terminateApp: if device.app == .background { endApp(.terminated) }
        case .forceQuit: if probe.app == nil { endApp(.forceQuit) }
        case .reboot: try reboot()
        }
    }

    private func arrive(_ added: [LifeSample], _ deleted: [SampleID]) throws {
        guard strategy == .naive || observer.isRunning else {
            return at(now + .seconds(5)) { [unowned self] in try arrive(added, deleted) }
        }
        ledger.note(added: added, deleted: deleted)
        hasChange = true
        if strategy == .naive {
            naive.arrive(added: added, deleted: deleted, at: now)
            if device.app == .active { naive.wake(at: now, isOnline: isOnline) }
        } else {
            let changes = LiveChanges(user: "me", source: "phone", added: LifeSample.batch(added), deleted: deleted)
            observer.take(.effect(EffectResult(id: 0, value: changes)))
        }
        planDelivery()
    }

    private func reboot() throws {
        if device.app != .forceQuit { endApp(probe.app == .forceQuit ? .forceQuit : .terminated) }
        device.isLocked = true
        guard strategy != .naive else { return }
        observer.crash()
        at(now + .seconds(40)) { [unowned self] in
            try observer.start()
            told = nil
            tell()
        }
    }

    var isOnline: Bool { device.network?.isSatisfied ?? true }

    /// Tells the stack the phone's state.
    func tell() {
        guard strategy != .naive, device != told, observer.isRunning else { return }
        told = device
        world.send("control.\(observer.name)", .object(ChangeDevice(set: Value(device)).body), from: "phone")
    }

    // MARK: What the stages ask for

    private func perform(_ effect: Effect, of host: SimulatedHost) throws {
        let upload = effect.request as? UploadRequest
        guard upload != nil || effect.request is HoldingsRequest else { return }
        let reply: UploadReply
        if !isOnline {
            reply = .failed(
                HTTPError(
                    .timedOut, endpoint: "backend", detail: "the phone is offline", hint: "wait for a network"))
        } else {
            reply = try upload.map { try log.take($0, at: now) } ?? log.holdings
        }
        world.schedule(
            .effect(host, life: host.lives, reply.result(of: effect)), after: .milliseconds(80))
    }

    /// The result.
    package var outcome: SampleLedger.Outcome {
        strategy == .naive
            ? ledger.compare(arrivals: naive.arrivals, alive: naive.alive)
            : ledger.compare(arrivals: log.arrivals, alive: log.alive)
    }
}
