import ConsolidatorStage
import DebouncerStage
import Foundation
import GenericStage
import HTTP
import HealthImport
import HealthModel
import HeartRateStage
import ObserverStage
import Operations
import PluginKit
import SQLite
import SleepStage
import StepsStage
import UploaderStage

/// All stages in one process, each on its own file, over a bus, clocks, an inbox and a backend that misbehave as a seed says.
final class SimulatedStack {
    let world: SimulatedWorld
    let data: SimulatedData
    private(set) var backend = FakeBackend()
    let handlers = ["generic", "heart-rate", "sleep", "steps"]
    let observer: SimulatedHost
    let consolidator: SimulatedHost

    /// Noon of the first day.
    static func start() throws -> Instant { try noon(daysAfterFirst: 0) }
    /// Noon of the day after the last: every day of the data is over.
    static func end() throws -> Instant { try noon(daysAfterFirst: SimulatedData.days) }

    private static func noon(daysAfterFirst days: Int) throws -> Instant {
        let zones = try ZoneTimeline(zone: SimulatedData.zone)
        return (zones.ranges(of: SimulatedData.firstDay.adding(days: days)).first?.lowerBound ?? 0)
            + 12 * 3600 * Instant.second
    }

    init(seed: UInt64, data: SimulatedData, trace: Bool = false) throws {
        let world = try SimulatedWorld(seed: seed, wall: Self.start(), trace: trace)
        self.world = world
        self.data = data
        let pluginHandlers: [(String, any DayHandler)] = [
            ("generic", GenericHandler()), ("heart-rate", HeartRateHandler()), ("sleep", SleepHandler()),
            ("steps", StepsHandler()),
        ]
        let manifests = try pluginHandlers.map { try Checkout.manifest($0.0) }
        let named = Set(manifests.flatMap(\.types).filter { $0 != "*" })
        observer = SimulatedHost(
            "observer", plugin: "observer", in: world, source: { try ObserverSource(database: $0) },
            stage: { ObserverStage(instance: "observer", zone: SimulatedData.zone, defaultUser: "me") })
        let policy = Self.policy(seed)
        let consumers =
            manifests.map { manifest in
                manifest.types.contains("*")
                    ? DebouncerStage.Consumer(name: manifest.name, types: nil, except: named)
                    : DebouncerStage.Consumer(name: manifest.name, types: Set(manifest.types))
            } + [DebouncerStage.Consumer(name: "uploader", types: nil)]
        let names = handlers
        consolidator = SimulatedHost(
            "consolidator", plugin: "consolidator", in: world,
            stage: { ConsolidatorStage(observer: "observer", handlers: names) })
        var hosts = [observer]
        hosts.append(
            SimulatedHost(
                "debouncer", plugin: "debouncer", in: world,
                stage: { DebouncerStage(observer: "observer", consumers: consumers, policy: policy) }))
        for ((name, handler), manifest) in zip(pluginHandlers, manifests) {
            let configuration = try SchemaCheck(file: manifest.file).resolve(.null, schema: manifest.configuration)
            hosts.append(
                SimulatedHost(
                    name, plugin: name, in: world,
                    stage: {
                        HandlerStage(
                            instance: name, manifest: manifest, configuration: configuration, handler: handler,
                            namedTypes: named, observer: "observer")
                    }))
        }
        hosts.append(consolidator)
        let types = Dictionary(uniqueKeysWithValues: manifests.flatMap { m in m.types.map { ($0, m.name) } })
        hosts.append(
            SimulatedHost(
                "uploader", plugin: "uploader", in: world,
                stage: {
                    UploaderStage(
                        observer: "observer", handlers: ["sleep"], consolidator: "consolidator",
                        policy: UploadPolicy(base: 0.2, cap: 4), generator: SeededRandom(seed: seed),
                        instance: "uploader",
                        family: { UploadMetric(family: types[$0] ?? "other") })
                }))
        world.hosts = hosts
        world.effects = { [unowned self] in try perform($0, of: $1) }
    }

    /// Every third seed at once, as delivery without a debouncer would be; the others with windows, one type with its own.
    private static func policy(_ seed: UInt64) -> ReleaseWindow.Policy {
        seed % 3 == 0
            ? .init(window: 0, maximumWait: 0)
            : .init(
                window: Instant.second, maximumWait: 5 * Instant.second,
                byType: [SimulatedData.steps: seed % 3 == 1 ? 0 : 4 * Instant.second])
    }

    // MARK: Effects

    private func perform(_ effect: Effect, of host: SimulatedHost) throws {
        if let request = effect.request as? ObserverEffect {
            read(request, effect, host)
        } else if let request = effect.request as? UploadRequest {
            try upload(request, effect, host)
        }
    }

    private func read(_ request: ObserverEffect, _ effect: Effect, _ host: SimulatedHost) {
        var delay: Instant = 0
        func reply(_ event: ImportEvent) {
            delay += world.pick(1000...200_000)
            world.schedule(.effect(host, life: host.lives, EffectResult(id: effect.id, value: event)), after: delay)
        }
        switch request {
        case .adopt(let id, _): reply(.adopted(id: id))
        case .read(let id, _):
            var summary = ReadSummary()
            for batch in data.files.first(where: { $0.id == id })?.batches ?? [] {
                summary.records += batch.count
                reply(.records(id: id, Record.batch(batch)))
            }
            reply(.finished(id: id, summary))
        case .discard: break
        }
    }

    private func upload(_ request: UploadRequest, _ effect: Effect, _ host: SimulatedHost) throws {
        func answer(_ reply: UploadReply) {
            world.schedule(
                .effect(host, life: host.lives, EffectResult(id: effect.id, value: reply)),
                after: world.pick(1000...150_000))
        }
        let lost = HTTPError(.timedOut, endpoint: "backend", detail: "no answer", hint: "wait")
        guard world.chance(world.faults.upload) else { return answer(try backend.take(request)) }
        switch world.pick(0...5) {
        case 0: answer(.failed(lost))
        case 1:
            // It was stored; only the answer is lost.
            _ = try backend.take(request)
            answer(.failed(lost))
        case 2: answer(.answered(status: 503, retryAfter: "1", body: []))
        case 3: answer(.answered(status: 401, retryAfter: nil, body: []))
        case 4: answer(.answered(status: 500, retryAfter: nil, body: []))
        default:
            // Stored long before the answer comes.
            let late = try backend.take(request)
            world.schedule(
                .effect(host, life: host.lives, EffectResult(id: effect.id, value: late)),
                after: world.pick(500_000...4_000_000))
        }
    }

    func replaceBackend() {
        world.note("backend replaced")
        backend.replace()
    }

    // MARK: Running

    func start() throws {
        for host in world.hosts { try host.start() }
    }

    /// Gives the command to import a file, again and again until the observer has it in its books, as the command line does.
    func submit(_ file: SimulatedData.File, after delay: Instant) {
        world.schedule(
            .action { [unowned self] in
                guard try state(of: file) == nil else { return }
                world.send(
                    "control.observer",
                    [
                        "command": "import", "id": .string(file.id), "path": .string("/made/up/\(file.id)"),
                        "user": .string(file.user),
                    ], from: "command")
                submit(file, after: Instant.second)
            }, after: delay)
    }

    private func state(of file: SimulatedData.File) throws -> String? {
        guard let reader = observer.reader else { return nil }
        let find = try reader.prepare("SELECT state FROM imports WHERE id = ?")
        find.bind(1, file.id)
        return try find.firstRow { $0.string(0) }
    }

    /// Says of one moment which zone begins there, or that none does, once.
    func say(_ zone: String?, from moment: Instant) {
        var command: [String: Value] = ["command": "zone", "user": "me", "from": .integer(moment)]
        command["action"] = zone == nil ? "remove" : "add"
        if let zone { command["zone"] = .string(zone) }
        world.send("control.observer", .object(command), from: "command")
    }

    /// Has the observer keep exactly the zones that the data ends up with, saying it as often as it takes.
    func travel(after delay: Instant) {
        world.schedule(
            .action { [unowned self] in
                guard try !hasTravelled() else { return }
                for moment in data.moments { say(data.travels.first { $0.from == moment }?.zone, from: moment) }
                travel(after: Instant.second)
            }, after: delay)
    }

    private func hasTravelled() throws -> Bool {
        guard let reader = observer.reader else { return false }
        var added: [ZoneTimeline.Entry] = []
        try reader.prepare("SELECT moment, zone FROM zone_settings WHERE user = 'me' AND moment > 0 ORDER BY moment")
            .forEachRow { added.append(.init(from: $0.int64(0), zone: $0.string(1))) }
        return added == data.travels
    }

    private func areImportsClosed() throws -> Bool { try data.files.allSatisfy { try state(of: $0) == "closed" } }

    /// Runs until everything is delivered and final, by the same rule as `healthbus up --until-idle`.
    /// - Returns: what it waited for when it gave up; nil when it got there.
    func runUntilIdle(within limit: Instant) throws -> String? {
        var watch = IdleWatch(
            roles: .init(
                observer: "observer", handlers: handlers, consolidator: "consolidator", uploaders: ["uploader"],
                documents: ["consolidator", "sleep"]), closedHead: 0)
        var last = IdleWatch.Verdict.waiting("the first look")
        try world.run(for: limit) {
            let beats = world.hosts.compactMap { host in host.heartbeat.map { (host.name, (beat: $0, age: 0.0)) } }
            // A file that is still on its way to the observer isn't known to it: nothing is judged before.
            guard try areImportsClosed() && hasTravelled() else { return false }
            last = watch.judge(Dictionary(uniqueKeysWithValues: beats), at: world.monotonic)
            return last == .idle
        }
        switch last {
        case .idle: return nil
        case .waiting(let what), .blocked(let what): return what
        }
    }
}
