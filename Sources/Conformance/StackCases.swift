import Changelog
import Client
import Clocks
import Configuration
import Foundation
import Glibc
import HealthModel
import JSON
import Logging
import Processes
import Protocol
import StageKit

/// The cases that run the plugin in a stack of its own: what applies to every process, and a handler's figures.
final class StackCases {
    let manifest: Manifest
    let trial: TrialStack
    let rows: TestRows
    /// The instance under test; a handler's other instances are compared with it.
    let name: String
    private var isUp = false
    var first: ChildProcess?
    var data: (head: SequenceNumber, rows: [String: Value])?
    var samples: [TestRow] = []
    var exports: Int64 = 0

    static let days = (0..<24).map { LocalDay(year: 2025, month: 3, day: 20).adding(days: $0) }
    static let autumn = LocalDay(year: 2024, month: 10, day: 27)
    static let emptied = LocalDay(year: 2025, month: 3, day: 25)

    init(_ manifest: Manifest, catalog: PluginCatalog) throws {
        self.manifest = manifest
        rows = try TestRows(types: manifest.types + manifest.reads)
        let entry: Value = [
            "plugin": .string(manifest.folder + "/"), "configuration": Self.options(manifest),
        ]
        var instances: [String: Value] = [:]
        switch manifest.kind {
        case .handler:
            name = "first"
            for instance in ["first", "reordered", "repeated", "crash", "drained"] { instances[instance] = entry }
        // It replaces the shipped one.
        case .hub, .observer, .debouncer:
            name = manifest.kind.rawValue
            instances[name] = entry
        case .backend, .consolidator, .uploader, .notifier, .ingest, .dashboard:
            name = "first"
            instances[name] = entry
        }
        trial = try TrialStack(instances, catalog: catalog)
    }

    /// Options that plugins of this kind need in order to start; nothing listens at these addresses.
    private static func options(_ manifest: Manifest) -> Value {
        let declared = manifest.configuration["properties"]
        var options: [String: Value] = [:]
        if let destination = manifest.destination, let option = destination.place.first {
            switch destination.kind {
            case .backend, .server: options[option] = "http://127.0.0.1:1"
            case .broker: options[option] = "mqtt://127.0.0.1:1"
            case .database, .folder: break
            }
        }
        if manifest.kind == .notifier, !declared["url"].isNull { options["url"] = "http://127.0.0.1:1" }
        if [.backend, .ingest, .dashboard].contains(manifest.kind), !declared["port"].isNull { options["port"] = 0 }
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
        case .reordered:
            try compare("reordered", "the samples came in another order") { try $0.level("reordered", $1, to: $2) }
        case .repeated: try repeated()
        case .crash: try crash()
        case .drainAtWork: try drainAtWork()
        case .emptied: try empty()
        case .manySamples: try many()
        default: return
        }
    }

    /// Starts the stack around the plugin.
    private func bringUp() throws {
        guard !isUp else { return }
        isUp = true
        // Without a hub no process becomes ready, so if the plugin is the hub, it starts first.
        if manifest.kind == .hub { _ = try running() }
        for name in ["hub", "observer", "debouncer"] where name != self.name {
            do { try trial.startAndWait(name) } catch {
                throw Failure(
                    "the stack around the plugin can't be started: \(name): \(error)",
                    hint: "is everything built and up to date? 'make build'")
            }
        }
    }

    func running() throws -> ChildProcess {
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
        guard let exit = trial.end(of: process) else {
            throw ConformanceFault(
                "it runs with an option its manifest doesn't declare", sent: "\"noSuchOption\": 1",
                said: trial.said("options"), hint: "check the options before anything starts; PluginProgram does that")
        }
        guard exit == .code(ExitCode.usage.rawValue) else {
            throw ConformanceFault(
                "it ended with \(exit) when given an option its manifest doesn't declare", sent: "\"noSuchOption\": 1",
                said: trial.said("options"), hint: "refuse a configuration with exit code 2")
        }
    }

    private func keepsTheLock() throws {
        let process = try running()
        let second = try trial.start(name, as: "second")
        guard let exit = trial.end(of: second) else {
            throw ConformanceFault(
                "a second process runs on the same state folder", said: trial.said("second"),
                hint: "take the folder's lock before opening anything, and exit with 1 when another process holds it")
        }
        guard exit == .code(ExitCode.failed.rawValue) else {
            throw ConformanceFault(
                "a second process on the same state folder ended with \(exit)", said: trial.said("second"),
                hint: "exit with 1 when another process holds the lock")
        }
        guard process.poll() == nil, trial.isReady(name, process) else {
            throw ConformanceFault(
                "the first process ended when a second was started", said: trial.said(name),
                hint: "don't take a lock that is held")
        }
    }

    private func standsBy() throws {
        let process = try running()
        let waiting = try trial.start(name, as: "standby", ["--standby"])
        // Plugins built on StageKit report that they stand by; others have this long to end.
        _ = trial.comes(within: 3) { trial.hasSaid("standby", "instance.standby") || waiting.poll() != nil }
        if let exit = waiting.poll() {
            throw ConformanceFault(
                "with --standby it ended (\(exit)) while another process held the lock", said: trial.said("standby"),
                hint: "wait for the lock, then continue starting")
        }
        guard trial.isReady(name, process) else {
            throw ConformanceFault(
                "a process on standby ended it, or speaks in its place", said: trial.said("standby"),
                hint: "on standby a process has no lock and says nothing on the bus")
        }
        first = nil
        try trial.stop(process, label: name)
        let hasCome = trial.comes(within: TrialStack.readyWithin) {
            trial.isReady(name, waiting) || waiting.poll() != nil
        }
        if let exit = waiting.poll() {
            throw ConformanceFault(
                "with --standby it ended (\(exit)) instead of taking over", said: trial.said("standby"),
                hint: "wait for the lock, then continue starting")
        }
        guard hasCome else {
            throw ConformanceFault(
                "it didn't take over within \(JSONNumber.text(TrialStack.readyWithin)) s of the lock becoming free",
                said: trial.said("standby"), hint: "try the lock again at least every half second")
        }
        first = waiting
    }

    /// Sends messages that no process can understand, on every topic that the plugin receives.
    private func livesOn() throws {
        let process = try running()
        let bus = try HeardBus(trial.state.address)
        defer { bus.close() }
        guard trial.comes(within: TrialStack.readyWithin, { bus.isHeard }) else {
            throw Failure("the kit isn't heard on its own bus", hint: "report this as a bug of the kit")
        }
        let before = bus.sent
        var count = 0
        let topics = [
            ("sync.\(name)", "debouncer"), ("page.\(name)", "observer"), ("control.\(name)", HeardBus.name),
            ("pull.\(name)", HeardBus.name), ("heartbeat.observer", "observer"),
        ]
        for (topic, speaker) in topics {
            let bodies: [Value] = [
                .null, "x", [1, 2], ["head": 7], ["id": "x", "part": -1], ["command": "noSuchThing"],
            ]
            for body in bodies { bus.send(topic, body, as: speaker) }
            bus.send(topic, ["x": 1], as: speaker, version: ProtocolVersion(major: 2, minor: 0))
            bus.send(frames: [Array(topic.utf8), [0xff, 0x00], [0x9f]])
            bus.send(frames: [Array(topic.utf8)])
            count += bodies.count + 3
        }
        // Waits for the second heartbeat after all the messages, since the plugin has had a turn by then.
        var beats = 0
        var last = MonotonicClock.now
        let isAlive = trial.comes(within: TrialStack.readyWithin) {
            guard bus.sent >= before + count, let beat = trial.client.heartbeats[name] else {
                last = MonotonicClock.now
                return process.poll() != nil
            }
            let arrived = MonotonicClock.now - .seconds(beat.age)
            if arrived > last + .milliseconds(1) {
                beats += 1
                last = arrived
            }
            return beats >= 2 || process.poll() != nil
        }
        if let exit = process.poll() {
            throw ConformanceFault(
                "it ended (\(exit)) when sent messages it can't understand",
                sent: "messages with another major version, without members, or with wrong types",
                said: trial.said(name),
                hint: "drop and count what can't be read, and continue: docs/protocol.md, 'Versions'")
        }
        guard isAlive, trial.isReady(name, process) else {
            throw ConformanceFault(
                "it is silent after messages it can't understand", said: trial.said(name),
                hint: "drop and count what can't be read, and continue")
        }
    }
}
