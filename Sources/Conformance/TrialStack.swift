import Changelog
import Client
import Configuration
import Control
import Foundation
import Glibc
import HealthModel
import JSON
import Logging
import Processes
import Protocol

/// A stack of the shipped programs with the plugin in it, in a temporary folder and alone on its bus. The folder is
/// deleted with the object.
final class TrialStack {
    let folder: String
    let state: StateFolder
    let file: String
    let stack: StackConfiguration
    let catalog: PluginCatalog
    private(set) var client: StackClient
    /// The running processes, by instance.
    private var processes: [String: ChildProcess] = [:]

    /// The time limit for anything to be heard on the bus. None of the limits here count the time that the stack spends
    /// waiting for a processor.
    static let readyWithin = 30.0
    static let stopWithin = 10.0

    /// - Parameter instances: the instances by name, including the plugin's.
    init(_ instances: [String: Value], catalog: PluginCatalog) throws {
        self.catalog = catalog
        var template = Array((NSTemporaryDirectory() + "healthbus-test-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(
                "no temporary folder below \(NSTemporaryDirectory())", hint: "check its permissions, or set TMPDIR")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        state = StateFolder(path: folder + "/s")
        file = folder + "/stack.json"
        var all: [String: Value] = [:]
        let shipped = try catalog.defaultStack()
        for name in (shipped["instances"].object ?? [:]).keys { all[name] = .null }
        for name in ["hub", "observer"] { all[name] = ["plugin": .string(name)] }
        all["debouncer"] = ["plugin": "debouncer", "configuration": ["windowSeconds": 0]]
        all.merge(instances) { $1 }
        try Data(Value.object(["instances": .object(all)]).json(pretty: true).utf8)
            .write(to: URL(fileURLWithPath: file))
        stack = try StackConfiguration(path: file, catalog: catalog)
        try StateFolder.make(state.path)
        try StateFolder.make(state.sockets)
        client = try StackClient(address: state.address)
    }

    deinit {
        client.close()
        for process in processes.values {
            process.kill()
            process.wait()
        }
        // Leftovers in a temporary folder aren't a reason to fail.
        _ = try? FileManager.default.removeItem(atPath: folder)
        if !state.sockets.hasPrefix(folder) { _ = try? FileManager.default.removeItem(atPath: state.sockets) }
    }

    /// Starts an instance's program, replacing one that ended.
    @discardableResult
    func start(_ name: String, as label: String? = nil, _ words: [String] = [], config: String? = nil) throws
        -> ChildProcess
    {
        guard let instance = stack.instance(name) else { throw Failure("no instance \(name)") }
        let log = open(
            folder + "/\(label ?? name).log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 3 else { throw Failure("can't write below \(folder)") }
        defer { close(log) }
        let process = try ChildProcess(
            ProcessSpec(
                name: name, executable: catalog.program(instance.manifest),
                arguments: ["--state", state.path, "--instance", name, "--config", config ?? file] + words,
                environment: [
                    "HEALTHBUS_PLUGINS": catalog.folder, "HEALTHBUS_LOG": "text", "HEALTHBUS_LOG_LEVEL": "info",
                    "HEALTHBUS_ZONE": TestRows.zone, "HEALTHBUS_BACKEND_PORT": "", "HEALTHBUS_INGEST_PORT": "",
                    "HEALTHBUS_DASHBOARD_PORT": "0",
                    "HEALTHBUS_BACKEND_TOKEN": "test",
                ],
                streams: .init(output: log, error: log)),
            trampoline: ChildProcess.trampolineBesideProgram())
        processes[label ?? name] = process
        return process
    }

    /// The program's last line of output, whatever it says.
    func said(_ label: String) -> String? {
        guard let data = FileManager.default.contents(atPath: folder + "/\(label).log") else { return nil }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").last.map(String.init)
    }

    func hasSaid(_ label: String, _ text: String) -> Bool {
        guard let data = FileManager.default.contents(atPath: folder + "/\(label).log") else { return false }
        return String(decoding: data, as: UTF8.self).contains(text)
    }

    /// Waits for a condition, checking it whenever something is heard on the bus; returns false when it isn't met in
    /// time.
    func comes(within seconds: Double, _ condition: () throws -> Bool) rethrows -> Bool {
        var deadline = FairDeadline(.seconds(seconds), of: processes.values.map(\.pid))
        while true {
            let isLast = deadline.left() <= .zero
            if try condition() { return true }
            if isLast { return false }
            client.wait(until: Date(timeIntervalSinceNow: 0.01))
        }
    }

    /// How a process ended; nil if it doesn't end in time.
    func end(of process: ChildProcess) -> ProcessExit? {
        var deadline = FairDeadline(.seconds(Self.stopWithin), of: processes.values.map(\.pid))
        return process.wait(until: &deadline)
    }

    func beat(_ name: String) -> Heartbeat? { client.heartbeats[name]?.beat }

    func isReady(_ name: String, _ process: ChildProcess) -> Bool {
        beat(name).map { $0.pid == Int(process.pid) && $0.phase == .ready } ?? false
    }

    /// Starts an instance and waits until it is ready.
    @discardableResult
    func startAndWait(_ name: String, as label: String? = nil) throws -> ChildProcess {
        let process = try start(name, as: label)
        let hasCome = comes(within: Self.readyWithin) { isReady(name, process) || process.poll() != nil }
        if let ended = process.poll() {
            throw ConformanceFault(
                "its program ended (\(ended)) before it was ready", said: said(label ?? name),
                hint: "its output says why; 'healthbus plugins validate PLUGIN' checks the manifest")
        }
        guard hasCome else {
            throw ConformanceFault(
                "it wasn't ready within \(JSONNumber.text(Self.readyWithin)) s",
                received: beat(name).map { "heartbeat.\(name), phase \($0.phase), pid \($0.pid)" },
                said: said(label ?? name),
                hint: "a process is ready once its own heartbeat has come back: docs/plugins.md, 'Life of a process'")
        }
        return process
    }

    /// Ends a process as the supervisor does.
    func stop(_ process: ChildProcess, label: String) throws {
        process.signal(SIGTERM)
        guard let exit = end(of: process) else {
            process.kill()
            process.wait()
            throw ConformanceFault(
                "it didn't end within \(JSONNumber.text(Self.stopWithin)) s of SIGTERM", sent: "SIGTERM",
                said: said(label),
                hint: "finish the turn, report 'stopped' in a last heartbeat, exit with 0; else the supervisor kills it"
            )
        }
        guard exit.isSuccess else {
            throw ConformanceFault(
                "it ended with \(exit) after SIGTERM", sent: "SIGTERM", said: said(label),
                hint: "exit with 0 when asked to end")
        }
    }

    /// Imports samples, waits for the import to end, and returns the observer's head.
    func importSamples(_ rows: [TestRow], _ zones: ZoneTimeline, exported: Instant, complete: Bool = false) throws
        -> SequenceNumber
    {
        let path = folder + "/\(exported.microseconds).xml"
        try TestExport.write(rows, to: path, zones: zones, exported: exported)
        let imports = ImportClient(client: client, observer: "observer")
        let id = UUID().uuidString.lowercased()
        var request = ImportFile(id: id, path: path)
        if complete { (request.complete, request.deleteUpTo) = (true, 100) }
        var ended: (row: ImportRow, head: SequenceNumber)?
        let isOver = try comes(within: 120) {
            guard let found = try imports.state(id, within: 1) else {
                client.command("observer", request.body)
                return false
            }
            ended = found
            return found.row.state == .closed || found.row.state == .failed
        }
        guard isOver, let ended, ended.row.state == .closed, ended.row.problem == nil,
            ended.row.report?.read(ImportReport.self)?.completeness?.refused == nil
        else {
            let why =
                ended?.row.problem ?? ended?.row.report?.read(ImportReport.self)?.completeness?.refused ?? "no answer"
            throw Failure(
                "the kit's own samples couldn't be imported: \(why)",
                hint: "report this as a bug of the kit, with \(path)")
        }
        return ended.head
    }

    /// Waits until a handler has computed everything up to a head.
    func level(_ name: String, _ process: ChildProcess, to head: SequenceNumber, within seconds: Double = 120) throws {
        let isLevel = comes(within: seconds) {
            process.poll() != nil || (beat(name).map { $0.frontier["observer"] ?? .beginning >= head } ?? false)
        }
        let failedDays = beat(name)?.handler?.failedDays ?? 0
        guard failedDays == 0 else {
            let why = try failure(name)
            throw ConformanceFault(
                "\(failedDays) day\(failedDays == 1 ? "" : "s") couldn't be computed" + (why.map { "; \($0)" } ?? ""),
                said: why == nil ? said(name) : nil, hint: "correct that, and try again")
        }
        if let ended = process.poll() {
            throw ConformanceFault(
                "its process ended (\(ended)) while at work", said: said(name),
                hint: "its log says why")
        }
        guard isLevel else {
            throw ConformanceFault(
                "it hadn't computed everything within \(JSONNumber.text(seconds)) s: \(beat(name)?.stage.pending ?? 0) days wait",
                said: said(name), hint: "it computes too slowly, or its frontier doesn't move")
        }
    }

    /// What a handler reports when it can't compute a day.
    private func failure(_ name: String) throws -> String? {
        guard let instance = stack.instance(name) else { return nil }
        let reader = StackReader(state: state, stack: stack) { _, database in ChangelogSource(database: database) }
        let rows = try reader.rows(instance, topic: Alert.topic(.failedDays))
        return rows.last?.body?.read(RaisedAlert.self)?.text
    }

    /// All figures and events of an instance, by key.
    func rows(_ name: String) throws -> [String: Value] {
        guard let instance = stack.instance(name) else { return [:] }
        let reader = StackReader(state: state, stack: stack) { _, database in ChangelogSource(database: database) }
        var found: [String: Value] = [:]
        for topic in ["figures.", "events."] {
            for row in try reader.rows(instance, topic: topic) { found[row.key] = row.body }
        }
        return found
    }
}
