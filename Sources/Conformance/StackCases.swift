import Changelog
import Console
import Foundation
import Glibc
import HealthModel
import MessageBus
import PluginKit
import Supervisor
import Wire

/// The cases that run the plugin in a stack of its own: what belongs to every process, and a handler's figures.
final class StackCases {
    private let manifest: Manifest
    private let catalog: PluginCatalog
    private let trial: TrialStack
    private let rows: TestRows
    /// The instance that everything is asked of; a handler's others compare with it.
    private let name: String
    private var isUp = false
    private var first: ChildProcess?
    private var data: (head: Int64, rows: [String: Value])?
    private var samples: [TestRow] = []
    private var exports: Instant = 0

    private static let days = (0..<24).map { LocalDay(year: 2025, month: 3, day: 20).adding(days: $0) }
    private static let autumn = LocalDay(year: 2024, month: 10, day: 27)
    private static let emptied = LocalDay(year: 2025, month: 3, day: 25)

    init(_ manifest: Manifest, catalog: PluginCatalog) throws {
        self.manifest = manifest
        self.catalog = catalog
        rows = try TestRows(types: manifest.types + manifest.reads)
        let entry: Value = [
            "plugin": .string(manifest.folder + "/"), "configuration": Self.options(manifest),
        ]
        var instances: [String: Value] = [:]
        switch manifest.kind {
        case .handler:
            name = "first"
            for instance in ["first", "anew", "repeated", "crash", "drained"] { instances[instance] = entry }
        // In the place of the shipped one.
        case .hub, .observer, .debouncer:
            name = manifest.kind.rawValue
            instances[name] = entry
        case .backend, .consolidator, .uploader, .notifier:
            name = "first"
            instances[name] = entry
        }
        trial = try TrialStack(instances, catalog: catalog)
    }

    /// Options without which a plugin of its kind doesn't start, where the manifest has them: nothing is ever sent there.
    private static func options(_ manifest: Manifest) -> Value {
        let declared = manifest.configuration["properties"]
        var options: [String: Value] = [:]
        if manifest.kind == .uploader || manifest.kind == .notifier, !declared["url"].isNull {
            options["url"] = "http://127.0.0.1:1"
        }
        if manifest.kind == .backend, !declared["port"].isNull { options["port"] = 0 }
        return .object(options)
    }

    func run(_ asked: ConformanceCase) throws {
        try bringUp()
        switch asked {
        case .ready: _ = try running()
        case .options: try refusesOptions()
        case .lock: try keepsTheLock()
        case .foreignMessages: try livesOn()
        case .standby: try standsBy()
        case .drain:
            let process = try running()
            first = nil
            try trial.stop(process, label: name)
        case .figures: _ = try computed()
        case .anew: try compare("anew", "the samples came in another order") { try $0.level("anew", $1, to: $2) }
        case .repeated: try repeated()
        case .crash: try crash()
        case .drainAtWork: try drainAtWork()
        case .emptied: try empty()
        case .manySamples: try many()
        default: return
        }
    }

    /// The stack around the plugin.
    private func bringUp() throws {
        guard !isUp else { return }
        isUp = true
        // Without a hub nobody is ready: where that is the plugin, it comes first.
        if manifest.kind == .hub { _ = try running() }
        for name in ["hub", "observer", "debouncer"] where name != self.name {
            do { try trial.startAndWait(name) } catch {
                throw Failure(
                    "the stack around the plugin can't be started: \(name): \(error)",
                    hint: "is everything built and up to date? 'make build'")
            }
        }
    }

    private func running() throws -> ChildProcess {
        if let first, first.poll() == nil { return first }
        let process = try trial.startAndWait(name)
        first = process
        return process
    }

    private func refusesOptions() throws {
        let file = trial.folder + "/wrong.json"
        let text = try String(contentsOfFile: trial.file, encoding: .utf8)
        guard var all = try Value(json: text.utf8)["instances"].object, var entry = all[name]?.object else { return }
        entry["configuration"] = ["noSuchOption": 1]
        all[name] = .object(entry)
        try Data(Value.object(["instances": .object(all)]).json().utf8).write(to: URL(fileURLWithPath: file))
        let process = try trial.start(name, as: "options", config: file)
        guard let exit = process.wait(for: .seconds(TrialStack.stopWithin)) else {
            throw ConformanceFault(
                "it runs with an option that its manifest doesn't declare", sent: "\"noSuchOption\": 1",
                said: trial.said("options"), hint: "check the options before anything starts; PluginProgram does")
        }
        guard exit == .code(ExitCode.usage.rawValue) else {
            throw ConformanceFault(
                "it ended with \(exit) at an option that its manifest doesn't declare", sent: "\"noSuchOption\": 1",
                said: trial.said("options"), hint: "a configuration that is refused ends with exit code 2")
        }
    }

    private func keepsTheLock() throws {
        let process = try running()
        let second = try trial.start(name, as: "second")
        guard let exit = second.wait(for: .seconds(TrialStack.stopWithin)) else {
            throw ConformanceFault(
                "a second process runs on the same state folder", said: trial.said("second"),
                hint: "take the folder's lock before anything is opened, and end with 1 when another holds it")
        }
        guard exit == .code(ExitCode.failed.rawValue) else {
            throw ConformanceFault(
                "a second process on the same state folder ended with \(exit)", said: trial.said("second"),
                hint: "end with 1 when another holds the lock")
        }
        guard process.poll() == nil, trial.isReady(name, process) else {
            throw ConformanceFault(
                "the first process ended when a second was started", said: trial.said(name),
                hint: "a lock that is held isn't taken")
        }
    }

    private func standsBy() throws {
        let process = try running()
        let waiting = try trial.start(name, as: "standby", ["--standby"])
        // Those of this kit say so; others have until then to end.
        _ = trial.comes(within: 3) { trial.hasSaid("standby", "instance.standby") || waiting.poll() != nil }
        if let exit = waiting.poll() {
            throw ConformanceFault(
                "with --standby it ended (\(exit)) while another held the lock", said: trial.said("standby"),
                hint: "wait for the lock, then go on with the start")
        }
        guard trial.isReady(name, process) else {
            throw ConformanceFault(
                "another on standby ended it, or speaks in its place", said: trial.said("standby"),
                hint: "on standby a process has no lock and says nothing on the bus")
        }
        first = nil
        try trial.stop(process, label: name)
        guard trial.comes(within: TrialStack.readyWithin, { trial.isReady(name, waiting) }) else {
            throw ConformanceFault(
                "it didn't take over within \(JSONNumber.text(TrialStack.readyWithin)) s of the lock's being free",
                said: trial.said("standby"), hint: "look for the lock again at least every half second")
        }
        first = waiting
    }

    /// What nobody can understand, to every topic that it hears.
    private func livesOn() throws {
        let process = try running()
        let bus = try BusConnection(address: trial.state.address, subscriptions: [], handlers: .init(message: { _ in }))
        defer { bus.close() }
        let now = WallClock.now
        var count = 0
        for topic in ["sync.\(name)", "page.\(name)", "control.\(name)", "pull.\(name)", "heartbeat.observer"] {
            for body: Value in [.null, "x", [1, 2], ["head": 7], ["id": "x", "part": -1], ["command": "noSuchThing"]] {
                bus.send(
                    Message(topic: topic, header: .init(from: "test", at: now, other: LineCases.future), body: body))
                count += 1
            }
            let other = ProtocolVersion(major: 2, minor: 0)
            bus.send(Message(topic: topic, header: .init(from: "test", at: now, version: other), body: ["x": 1]))
            bus.send([Array(topic.utf8), [0xff, 0x00], [0x9f]])
            bus.send([Array(topic.utf8)])
        }
        // Everything is in its box by the time that it has answered what comes after.
        let before = trial.client.heartbeats[name]?.beat
        let isAlive = trial.comes(within: TrialStack.readyWithin) {
            trial.client.hello()
            guard let beat = trial.client.heartbeats[name], bus.counters.sent >= count else {
                return process.poll() != nil
            }
            return process.poll() != nil || (beat.beat != before && beat.age < 1)
        }
        if let exit = process.poll() {
            throw ConformanceFault(
                "it ended (\(exit)) at messages that it can't understand",
                sent: "messages of another major, without members, of wrong types",
                said: trial.said(name), hint: "drop what can't be read, count it, go on: docs/protocol.md, 'Versions'")
        }
        guard isAlive, trial.isReady(name, process) else {
            throw ConformanceFault(
                "it says nothing any more after messages that it can't understand", said: trial.said(name),
                hint: "drop what can't be read, count it, go on")
        }
    }
}

// Figures.
extension StackCases {
    private func nextExport() -> Instant {
        exports += 1
        return (1_762_000_000 + exports * 3600) * Instant.second
    }

    /// Everything that the first instance has computed of two imports, the later days first.
    @discardableResult
    private func computed() throws -> (head: Int64, rows: [String: Value]) {
        if let data { return data }
        let process = try running()
        let days = Self.days + [Self.autumn]
        let odd = rows.odd(LocalDay(year: 2025, month: 3, day: 29)) + rows.odd(LocalDay(year: 2025, month: 4, day: 2))
        let ordinary = days.flatMap { rows.ordinary($0) }
        samples = ordinary + odd
        // Each day in two parts, so that every day is computed once more when the second comes.
        let (later, earlier) = (
            ordinary.enumerated().filter { $0.offset % 2 == 1 }.map(\.element),
            ordinary.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        )
        var head = try trial.importSamples(later, rows.zones, exported: nextExport())
        try trial.level(name, process, to: head)
        head = try trial.importSamples(odd + earlier, rows.zones, exported: nextExport())
        try trial.level(name, process, to: head)
        let found = try trial.rows(name)
        guard !found.isEmpty else {
            throw ConformanceFault(
                "it gives no figures of \(samples.count) samples in \(days.count) days", said: trial.said(name),
                hint:
                    "are its types those of the manifest? \((manifest.types + manifest.reads).joined(separator: ", "))")
        }
        data = (head, found)
        return (head, found)
    }

    /// Another instance, which came to the same samples by another way, must have the same rows.
    private func compare(
        _ instance: String, _ how: String, _ run: (TrialStack, ChildProcess, Int64) throws -> Void
    ) throws {
        let (head, expected) = try computed()
        let process = try trial.startAndWait(instance)
        try run(trial, process, head)
        try equal(instance, expected, how)
    }

    private func equal(_ instance: String, _ expected: [String: Value], _ how: String) throws {
        if let difference = FiguresDifference.between(
            expected, try trial.rows(instance), now: "when \(how)", before: "before")
        {
            throw ConformanceFault(
                difference, said: trial.said(instance),
                hint: "figures follow from a day's samples alone: keep nothing else, and read no clock")
        }
    }

    /// Each message that it hears comes a second time, with members that no release has yet.
    private func repeated() throws {
        let bus = MessageEcho()
        try bus.open(trial.state.address, instance: "repeated")
        defer { bus.close() }
        try compare("repeated", "messages came twice") { try $0.level("repeated", $1, to: $2) }
        guard bus.count > 0 else { throw Failure("the kit repeated nothing", hint: "report this as a bug of the kit") }
    }

    private func crash() throws {
        let (head, expected) = try computed()
        // At its start, when it is ready, and once it has figures.
        for moment in 0..<3 {
            let process = try trial.start("crash")
            let begun = trial.beat("crash")?.head?.sequence ?? 0
            _ = trial.comes(within: TrialStack.readyWithin) {
                switch moment {
                case 0: InstanceLock.holder(folder: trial.state.instance("crash")) == Int(process.pid)
                case 1: trial.isReady("crash", process)
                default:
                    trial.isReady("crash", process)
                        && (trial.beat("crash")?.head?.sequence ?? 0 > begun
                            || trial.beat("crash")?.frontier["observer"] ?? 0 >= head)
                }
            }
            process.kill()
            process.wait()
        }
        let process = try trial.startAndWait("crash")
        try trial.level("crash", process, to: head)
        try equal("crash", expected, "it was killed three times")
    }

    private func drainAtWork() throws {
        let (head, expected) = try computed()
        let process = try trial.startAndWait("drained")
        _ = trial.comes(within: TrialStack.readyWithin) {
            trial.beat("drained").map { $0.details["pending"]?.int ?? 0 > 0 || $0.frontier["observer"] ?? 0 >= head }
                ?? false
        }
        try trial.stop(process, label: "drained")
        let again = try trial.startAndWait("drained")
        try trial.level("drained", again, to: head)
        try equal("drained", expected, "it was stopped at work")
    }

    private func empty() throws {
        _ = try computed()
        let process = try running()
        guard let window = rows.zones.ranges(of: Self.emptied).first else { return }
        // What touches neither that day nor a night at it.
        let left = samples.filter {
            $0.end < window.lowerBound - 12 * 3600 * Instant.second
                || $0.start >= window.upperBound + 12 * 3600 * Instant.second
        }
        let head = try trial.importSamples(left, rows.zones, exported: nextExport(), complete: true)
        try trial.level(name, process, to: head)
        let key = "/me/\(Self.emptied)"
        if let row = try trial.rows(name).keys.first(where: { $0.hasSuffix(key) }) {
            throw ConformanceFault(
                "it keeps '\(row)', though that day's samples are gone",
                said: trial.said(name), hint: "a day without samples has no figures: no data is no member, never 0")
        }
        samples = left
        data = nil
    }

    private func many() throws {
        _ = try data ?? computed()
        let process = try running()
        let head = try trial.importSamples(
            rows.many(LineCases.manyRows, on: LocalDay(year: 2025, month: 5, day: 6)), rows.zones,
            exported: nextExport())
        try trial.level(name, process, to: head, within: 300)
        data = nil
    }
}
