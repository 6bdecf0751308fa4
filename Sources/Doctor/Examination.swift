import Changelog
import Client
import Clocks
import Configuration
import Dispatch
import Foundation
import Glibc
import HealthModel
import HealthStore
import Inspection
import Protocol

/// The state of a running stack and its machine at one moment: everything that `healthbus doctor` bases its judgement
/// on.
package struct Examination: Sendable {
    package var stack: StackConfiguration
    package var state: String
    /// By the clock.
    package var now: Instant
    package var beats: Beats
    /// All heartbeats a moment earlier, which show whether work is shrinking; empty if no process had something to do.
    package var earlier: Beats = [:]
    /// For each instance that sends heartbeats, its file or folder if that no longer exists.
    package var gone: [String: String] = [:]
    /// Whether there is a file where the state folder should be.
    package var isFile = false
    /// What is wrong with the files of instances that aren't running: cut off, emptied, or gone although other
    /// processes depend on them.
    package var stores: [Finding] = []
    /// People whose days have begun in a different zone since the observer's store was lost.
    package var formerZones: [FormerZone] = []
    /// Instances (and "supervisor") whose lock is held by a process.
    package var held: Set<String> = []
    /// The raised alerts, each with who raised it, its kind, what it is about, its text, and what to do.
    package var alerts: [(from: String, kind: String, subject: String, text: String, remedy: String)] = []
    /// Everything in quarantine, and what of it is a conflict with a stored sample.
    package var quarantined: Int64 = 0
    package var conflicts: Int64 = 0
    /// The command that starts the stack, in quotes.
    package var start = "'healthbus up'"
    /// Each person's newest import, if it failed.
    package var failedImports: [ImportRow] = []
    package var freeBytes: Int64?
    /// The mistakes in the configuration on disk, which what runs read before they were made.
    package var mistakes: [Finding] = []
    /// What is wrong with how running ingests and dashboards can be reached, and with whom they let in.
    package var doors: [Finding] = []
    /// Devices that are refused because their token has ended or was revoked.
    package var refusedDevices: [Finding] = []
    /// The size of each instance's write-ahead log.
    package var walBytes: [String: Int64] = [:]
    /// The machine's load over the last five minutes, per core.
    package var load: Double?
    /// The charge, from 0 to 100, of a battery that is discharging; nil if there is no such battery.
    package var battery: Int?

    package init(_ stack: StackConfiguration, state: String, now: Instant, beats: Beats) {
        (self.stack, self.state, self.now, self.beats) = (stack, state, now, beats)
    }
}

extension Examination {
    /// Nothing is reported until this many seconds have passed; backends usually answer within one second.
    private static let patience = 2.0

    /// Examines a stack: its locks, its files, its messages on the bus.
    /// - Parameter report: says to a person who is waiting what is taking a long time.
    package init(_ stack: Stack, report: @escaping @Sendable (String) -> Void = { _ in }) throws {
        self.init(stack.configuration, state: stack.state.path, now: WallClock.now, beats: [:])
        held = Set((stack.names + ["supervisor"]).filter { InstanceLock.isHeld(folder: stack.state.instance($0)) })
        isFile = stack.state.isFile
        mistakes = stack.overlooked.map { Finding($0) }
        start = stack.startCommand
        if !isFile, !stack.configuration.bus.isRemote {
            stores = StoreFiles(state: stack.state, stack: stack.configuration).findings
        }
        freeBytes = DiskSpace.free(at: stack.state.path)
        for name in stack.names {
            var status = stat()
            if stat(stack.state.database(name) + "-wal", &status) == 0 { walBytes[name] = Int64(status.st_size) }
        }
        load = Machine.load
        battery = Machine.battery
        // On a bus over TCP, the stack's processes and their locks may be elsewhere.
        guard !held.isEmpty || stack.configuration.bus.isRemote else { return }
        let wanted =
            stack.names.filter { held.contains($0) || stack.configuration.bus.isRemote }
            + (held.contains("supervisor") ? ["supervisor"] : [])
        // Processes that can't commit keep ending, and those that run answer late or not at all.
        if freeBytes.map(DiskSpace.isFull) == true {
            beats = try stack.reader(foundSilent: { _ in }).gather(wanted, within: 1)
            return
        }
        let waiting = DispatchWorkItem { report("waiting for the destinations, of which one doesn't answer") }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience, execute: waiting)
        defer { waiting.cancel() }
        try BackendCheckClient.run(stack)
        waiting.cancel()
        // A silent instance is a finding in itself.
        let reader = stack.reader(foundSilent: { _ in })
        beats = try reader.gather(wanted, within: 2)
        if !stack.configuration.bus.isRemote { gone = Self.gone(stack, beats) }
        if beats.contains(where: { hasWork($0.value.beat) }) {
            earlier = beats
            beats = try reader.lookAgain(after: 1.5)
        }
        doors = DoorCheck(stack).findings(beats) + PageCheck(stack).findings(beats)
        // `doors` says so if the list can't be read.
        refusedDevices = TokenRefusals.findings(
            (try? TokenFile(stack.state).read()) ?? TokenList(), TokenRecord.uses(of: stack), subject: stack.state.path,
            now: now)
        let types: [Page<TypesPage>] = try reader.pages(try stack.instance(.observer), .types)
        quarantined = types.first?.quarantined ?? 0
        if quarantined > 0, Readiness.isUp(beats[stack.observer]) {
            conflicts = Int64(
                try QuarantineReport(stack, RepairSelection(reason: RecordConflict.reason)).entries.count)
        }
        failedImports = ImportsReport.failed(try ImportsReport(stack, reader).rows)
        formerZones = try FormerZone.all(of: stack, reader).filter { $0.former != $0.now }
        for instance in stack.configuration.instances
        where gone[instance.name] == nil {
            alerts += try reader.alerts(of: instance).map {
                (instance.name, $0.kind, $0.subject, $0.text, $0.remedy)
            }
        }
    }
}

extension Examination {
    private func hasWork(_ beat: Heartbeat) -> Bool {
        (beat.stage.pending ?? 0) > 0
            || beat.frontier.contains { upstream, frontier in
                beats[upstream]?.beat.head.map { $0.sequence > frontier } ?? false
            }
    }

    /// A file that a process has open may no longer exist for anyone else.
    private static func gone(_ stack: Stack, _ beats: Beats) -> [String: String] {
        var gone: [String: String] = [:]
        for instance in stack.configuration.instances where Readiness.isUp(beats[instance.name]) {
            let paths =
                [stack.state.instance(instance.name)]
                + ([.hub, .ingest, .dashboard].contains(instance.manifest.kind)
                    ? [] : [stack.state.database(instance.name)])
            gone[instance.name] = paths.first { !FileManager.default.fileExists(atPath: $0) }
        }
        return gone
    }
}

/// What the machine reports about itself; nil if it reports nothing.
enum Machine {
    static var load: Double? {
        var loads = [0.0, 0.0, 0.0]
        guard getloadavg(&loads, 3) == 3 else { return nil }
        return loads[1] / Double(max(1, ProcessInfo.processInfo.activeProcessorCount))
    }

    static var battery: Int? {
        let root = "/sys/class/power_supply"
        func read(_ name: String) -> String? {
            (try? String(contentsOfFile: "\(root)/\(name)", encoding: .utf8))?
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return (try? FileManager.default.contentsOfDirectory(atPath: root))?.compactMap { name in
            guard read("\(name)/type") == "Battery", read("\(name)/status") == "Discharging" else { return nil }
            return read("\(name)/capacity").flatMap { Int($0) }
        }.min()
    }
}
