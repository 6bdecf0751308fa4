import BackgroundDelivery
import Configuration
import DeliveryKit
import HTTP
import HealthModel
import ObserverStage
import Protocol
import StageKit
import UploaderStage

/// The app made of the stack's own stages. The observer belongs to the phone and always runs; all others run only while
/// the phone gives the app time.
///
/// While the other stages rest, nobody looks at the phone's health store. So samples and the phone's state are handed
/// to the observer only when the app next gets time, which lets a month pass in seconds.
final class StackApp: PhoneApp {
    weak var phone: Phone?
    let time: WorldTime
    let world: SimulatedWorld
    private let observer: SimulatedHost
    private let hosts: [SimulatedHost]
    /// The debouncer and the consolidator, which host the tasks.
    let taskHosts: [SimulatedHost]
    private var log = DeliveryLog()
    /// The state last reported to the stack.
    private var reported: DeviceState?
    /// What the observer hasn't received yet, in order.
    private var waiting: [LiveChanges] = []
    private var waitingSamples: [LifeSample] = []
    /// Whether its processes are getting time.
    private(set) var isBusy = false
    /// Rises whenever the app begins to work, so that checks for the end of earlier work are ignored.
    private var watches = 0

    /// The app has done what it was woken for when nothing has been committed or sent for this long; it is longer than
    /// the window in which changes are collected.
    private static let quiet = Duration.milliseconds(2500)
    /// The same duration, for when no health data can be read.
    private static let quietWhileLocked = Duration.milliseconds(800)
    private static let look = Duration.milliseconds(250)
    private static let retry = Duration.seconds(120)

    /// - Parameter configuration: the configuration as `healthbus up` reads it.
    /// - Throws: `ConfigurationError` for a stack without an observer, or with a plugin that can't be simulated.
    init(_ configuration: StackConfiguration, life: PhoneLife) throws {
        let world = try SimulatedWorld(seed: life.options.seed, wall: life.start(of: 0))
        world.isSteady = true
        self.world = world
        time = WorldTime(world, start: life.start(of: 0))
        let builder = StageBuilder(configuration: configuration, zone: life.options.home, seed: life.options.seed)
        let all = try configuration.instances.compactMap { try builder.host($0, in: world) }
        guard let observer = all.first(where: { $0.plugin == "observer" }) else {
            throw ConfigurationError(
                file: configuration.file, key: "instances", reason: "names no observer; a simulation needs one")
        }
        self.observer = observer
        let hosts = all.filter { $0 !== observer }
        self.hosts = hosts
        taskHosts = hosts.filter { $0.plugin == "debouncer" || $0.plugin == "consolidator" }
        world.hosts = all
        world.effects = { [unowned self] in try perform($0, of: $1) }
    }

    var arrivals: [SampleID: Instant] { log.arrivals }
    var alive: [SampleID: Int] { log.alive }
    var repeated: Int { log.repeated }
    var now: Instant { time.now }

    func install() throws { try observer.start() }

    func setClock(offBy offset: Duration) { time.setWallClock(offBy: offset) }

    // MARK: What the phone has

    func arrive(_ added: [LifeSample], deleted: [SampleID]) throws {
        waitingSamples += added
        if !deleted.isEmpty { close(deleted) }
        if isBusy || phone?.device.app == .active { try work() }
    }

    private func close(_ deleted: [SampleID]) {
        waiting.append(
            LiveChanges(user: "me", source: "phone", added: LifeSample.batch(waitingSamples), deleted: deleted))
        waitingSamples = []
    }

    private func handOver() {
        guard observer.isRunning else { return }
        if !waitingSamples.isEmpty { close([]) }
        for changes in waiting { observer.take(.effect(EffectResult(id: 0, value: changes))) }
        waiting = []
    }

    func deviceChanged() throws {
        if isBusy { return reportPhone() }
        // While the app is on the screen, it resumes its work when the network is back.
        guard let device = phone?.device, device.app == .active, device.network != reported?.network else { return }
        try work()
    }

    /// Reports the phone's state to the stack.
    private func reportPhone() {
        guard let device = phone?.device, device != reported, observer.isRunning else { return }
        reported = device
        world.send("control.\(observer.name)", .object(ChangeDevice(set: Value(device)).body), from: "phone")
    }

    // MARK: Time

    func open() throws { try work() }

    func wake(_ kind: WakeKind) throws {
        try work()
        ask(kind)
    }

    /// Gives the processes time until they have nothing left to do.
    private func work() throws {
        handOver()
        for host in hosts where !host.isRunning { try host.start() }
        for host in hosts where host.isSuspended { host.resume() }
        isBusy = true
        observer.rouse()
        reportPhone()
        world.lastWork = world.monotonic
        watches += 1
        watch(watches)
    }

    private func watch(_ number: Int) {
        time.at(now + Self.look) { [unowned self] in
            guard number == watches, isBusy, let phone else { return }
            let quiet = phone.device.isLocked ? Self.quietWhileLocked : Self.quiet
            guard world.monotonic - world.lastWork >= quiet else { return watch(number) }
            if phone.run == nil { restOnScreen() } else { try phone.endRun() }
        }
    }

    /// While the app is on the screen, nothing happens until a sample arrives, the network returns, or it is time to
    /// retry what failed.
    private func restOnScreen() {
        suspend()
        let number = watches
        time.at(now + Self.retry) { [unowned self] in
            if number == watches, phone?.device.app == .active { try work() }
        }
    }

    private func suspend() {
        for host in hosts { host.suspend() }
        isBusy = false
    }

    func rest() {
        reportPhone()
        suspend()
    }

    func end() {
        for host in hosts { host.crash() }
        isBusy = false
        reportPhone()
    }

    func reboot() throws {
        for host in hosts + [observer] { host.crash() }
        isBusy = false
        reported = nil
        time.at(now + .seconds(40)) { [unowned self] in if !observer.isRunning { try observer.start() } }
    }

    // MARK: What the stages ask for

    private func perform(_ effect: Effect, of host: SimulatedHost) throws {
        let upload = effect.request as? DeliveryRequest
        guard upload != nil || effect.request is HoldingsRequest || effect.request is HeldQuestion else { return }
        let reply: UploadReply
        if phone?.isOnline == false {
            reply = .failed(
                HTTPError(
                    .timedOut, endpoint: "backend", detail: "the phone is offline", hint: "wait for a network"))
        } else {
            // The log doesn't keep what was delivered, so it can't say what it holds.
            let other = effect.request is HeldQuestion ? UploadReply.answered(status: 404, body: []) : log.holdings
            reply = try upload.map { try log.take($0, at: now) } ?? other
        }
        world.schedule(
            .effect(host, life: host.lives, reply.result(of: effect)), after: .milliseconds(80))
    }
}

extension UploadReply {
    /// The reply to a request or a question, in the form that the uploader's own runner reports.
    package func result(of effect: Effect) -> EffectResult {
        if let request = effect.request as? DeliveryRequest {
            return EffectResult(id: effect.id, value: request.reply(to: self))
        }
        if let question = effect.request as? HoldingsRequest {
            return EffectResult(id: effect.id, value: question.reply(to: self))
        }
        if let question = effect.request as? HeldQuestion {
            return EffectResult(id: effect.id, value: question.reply(to: self))
        }
        return EffectResult(id: effect.id, value: self)
    }
}
