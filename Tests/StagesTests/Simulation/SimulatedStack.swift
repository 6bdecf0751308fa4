import Configuration
import DeliveryKit
import HTTP
import HealthImport
import HealthModel
import Inspection
import ObserverStage
import Protocol
import SQLite
import Simulation
import StageKit
import TestSupport
import UploaderStage

/// A file in a simulated inbox.
struct SimulatedFile {
    var id: String
    var user: String
    var batches: [RecordBatch]

    init(id: String, user: String, batches: [RecordBatch]) {
        (self.id, self.user, self.batches) = (id, user, batches)
    }
}

/// All stages of a stack in one process, each on its own file, with a bus, clocks, an inbox and a backend that
/// misbehave as determined by a seed.
final class SimulatedStack {
    let world: SimulatedWorld
    let files: [SimulatedFile]
    /// What can be imported; at first `files`.
    var inbox: [SimulatedFile]
    /// Performs the effects of destinations other than the backend, by instance.
    var others: [String: (Effect, SimulatedHost) throws -> Void] = [:]
    /// Whether the backend refuses the token.
    var isTokenRefused = false
    /// Two stacks that deliver to the same one hand it to each other.
    var backend = FakeBackend()
    /// How many backends there have been: none has the name of an earlier one.
    private var generations = 1
    private(set) var observer: SimulatedHost
    /// Files that its configuration names; they go with it.
    var folder: TemporaryFolder?
    let configuration: StackConfiguration
    private let builder: StageBuilder

    /// - Parameters:
    ///   - configuration: as `healthbus up` reads it; instances without a stage and notifiers are left out.
    ///   - destinations: plugins besides the uploader.
    ///   - wall: the wall clock at the start.
    init(
        _ configuration: StackConfiguration, seed: UInt64, wall: Instant, zone: String, files: [SimulatedFile],
        trace: Bool = false, destinations: [StagePlugin] = []
    ) throws {
        let world = try SimulatedWorld(seed: seed, wall: wall, trace: trace)
        self.world = world
        self.files = files
        inbox = files
        self.configuration = configuration
        let builder = StageBuilder(configuration: configuration, zone: zone, seed: seed, destinations: destinations)
        self.builder = builder
        world.hosts = try configuration.instances.compactMap { try builder.host($0, in: world) }
        guard let observer = world.hosts.first(where: { $0.plugin == "observer" }) else {
            throw ConfigurationError(
                file: configuration.file, key: "instances", reason: "names no observer; a simulation needs one")
        }
        self.observer = observer
        world.trust = BusRights(configuration).trust
        world.effects = { [unowned self] in try perform($0, of: $1) }
    }

    // MARK: Effects

    private func perform(_ effect: Effect, of host: SimulatedHost) throws {
        if let other = others[host.name] { return try other(effect, host) }
        if let request = effect.request as? ObserverEffect {
            read(request, effect, host)
        } else if let request = effect.request as? DeliveryRequest {
            try upload(request, effect, host)
        } else if effect.request is HoldingsRequest {
            reply(with: backend.holdings, effect, host)
        } else if let question = effect.request as? HeldQuestion {
            reply(with: backend.versions(question), effect, host)
        }
    }

    private static let lost = HTTPError(.timedOut, endpoint: "backend", detail: "no answer", hint: "wait")

    private func reply(with what: UploadReply, _ effect: Effect, _ host: SimulatedHost) {
        var reply = what
        if world.chance(world.faults.upload) { reply = .failed(Self.lost) }
        if isTokenRefused { reply = .answered(status: 401, body: []) }
        world.schedule(.effect(host, life: host.lives, reply.result(of: effect)), after: .milliseconds(20))
    }

    private func read(_ request: ObserverEffect, _ effect: Effect, _ host: SimulatedHost) {
        var delay = Duration.zero
        func reply(_ event: some Sendable) {
            delay += world.time(microseconds: 1000...200_000)
            world.schedule(.effect(host, life: host.lives, EffectResult(id: effect.id, value: event)), after: delay)
        }
        switch request {
        case .adopt(let id, _, _): reply(FileStep.adopted(id: id))
        case .read(let id, _, _):
            var summary = ReadSummary()
            for batch in inbox.first(where: { id.hasPrefix($0.id) })?.batches ?? [] {
                summary.records += batch.count
                reply(ImportEvent.found(.records(batch)))
            }
            reply(ImportEvent.finished(summary))
        // The simulation's files are where the observer can open them.
        case .measure, .append, .discard, .watch, .settle, .abandon: break
        }
    }

    private func upload(_ request: DeliveryRequest, _ effect: Effect, _ host: SimulatedHost) throws {
        func answer(_ reply: UploadReply) {
            world.schedule(
                .effect(host, life: host.lives, reply.result(of: effect)),
                after: world.time(microseconds: 1000...150_000))
        }
        if isTokenRefused { return answer(.answered(status: 401, body: [])) }
        guard world.chance(world.faults.upload) else { return answer(try backend.take(request)) }
        switch world.pick(0...8) {
        case 0: answer(.failed(Self.lost))
        case 1:
            // The request was stored; only the answer is lost.
            _ = try backend.take(request)
            answer(.failed(Self.lost))
        case 2: answer(.answered(status: 503, retryAfter: "1", body: []))
        case 3: answer(.answered(status: 401, body: []))
        case 4: answer(.answered(status: 500, body: []))
        case 5: answer(.answered(status: 200, body: Array("<html>Welcome</html>".utf8)))
        case 6: answer(.answered(status: 200, body: Array("{\"error\":\"the disk is full\"}".utf8)))
        case 7:
            // Somebody in between sends it twice.
            _ = try backend.take(request)
            answer(try backend.take(request))
        default:
            // The request is stored long before the answer arrives.
            let late = try backend.take(request)
            world.schedule(
                .effect(host, life: host.lives, late.result(of: effect)),
                after: world.time(microseconds: 500_000...4_000_000))
        }
    }

    func replaceBackend() {
        world.note("backend replaced")
        generations += 1
        backend.replace(by: generations)
    }

    /// Another version of a handler; nil for an instance that isn't one.
    func handler(_ name: String, version: Int) -> (() throws -> any Stage)? {
        configuration.instances.first { $0.name == name }.flatMap { builder.handler($0, version: version) }
    }

    // MARK: Running

    /// Another process takes an instance's place, with its file; the one before isn't ended.
    func takeOver(_ host: SimulatedHost) throws {
        guard let index = world.hosts.firstIndex(where: { $0 === host }),
            let instance = configuration.instances.first(where: { $0.name == host.name }),
            let new = try builder.host(instance, in: world)
        else { return }
        (new.makeStage, new.makeSource) = (host.makeStage, host.makeSource)
        world.hosts[index] = new
        if host === observer { observer = new }
        world.schedule(.start(new), after: .zero)
    }

    func start() throws {
        for host in world.hosts { try host.start() }
    }

    /// Sends the command to import a file, and repeats it until the observer has recorded it, as the command line does.
    func submit(_ file: SimulatedFile, after delay: Duration) {
        world.schedule(
            .action { [unowned self] in
                guard try state(of: file) == nil else { return }
                world.send(
                    "control.observer",
                    .object(ImportFile(id: file.id, path: "/made/up/\(file.id)", user: file.user).body), from: "command"
                )
                submit(file, after: .seconds(1))
            }, after: delay)
    }

    /// nil while the observer doesn't know of it.
    func state(of file: SimulatedFile) throws -> String? { try state(of: file.id) }

    /// The same for an import, by its id.
    func state(of id: String) throws -> String? {
        guard let reader = observer.reader else { return nil }
        let find = try reader.prepare("SELECT state FROM imports WHERE id = ?")
        find.bind(1, id)
        return try find.firstRow { $0.string(0) }
    }

    /// Whoever judges wouldn't wait for the rest once an element is refused, or a day can't be computed.
    private static func withoutPoison(_ beat: Heartbeat) -> Heartbeat {
        guard beat.uploader?.deadLetters ?? 0 > 0 || beat.handler?.failedDays ?? 0 > 0 else { return beat }
        var beat = beat
        var members = Value(beat.details).object ?? [:]
        for name in ["deadLetters", "failedDays"] where members[name] != nil { members[name] = 0 }
        beat.details = Value.object(members).read() ?? beat.details
        return beat
    }

    private func areImportsClosed() throws -> Bool { try files.allSatisfy { try state(of: $0) == "closed" } }

    /// Runs until everything is delivered and final, by the same rule as `healthbus up --until-idle`.
    /// - Parameter isReady: whether everything asked of the stack has reached it; nothing is judged until then.
    /// - Returns: what it was waiting for when it gave up; nil when it succeeded.
    func runUntilIdle(within limit: Duration, isReady: () throws -> Bool = { true }) throws -> String? {
        var watch = IdleWatch(roles: .init(of: configuration), closedHead: .beginning)
        var last = IdleWatch.Verdict.waiting("the first look")
        var looked = MonotonicTime.distantPast
        try world.run(for: limit) {
            guard world.monotonic - looked >= .milliseconds(500) else { return false }
            looked = world.monotonic
            let beats = world.hosts.compactMap { host in
                host.heartbeat.map { (host.name, (beat: Self.withoutPoison($0), age: 0.0)) }
            }
            // The observer doesn't know of a file that is still on its way, so nothing is judged until it arrives.
            guard try areImportsClosed() && isReady() else { return false }
            last = watch.judge(Dictionary(uniqueKeysWithValues: beats), at: world.monotonic)
            return last == .idle
        }
        switch last {
        case .idle: return nil
        case .waiting(let what), .blocked(let what): return what
        }
    }
}
