import Changelog
import Foundation
import HealthModel
import MessageBus
import Synchronization
import Wire

/// What an instance's heartbeats say, kept by its stage's thread and read by the bus's thread: so that long work isn't taken for death, nor a hang
/// for health.
final class Vitals: Sendable {
    private struct State {
        var head: StoreHead?
        var epoch: Int64 = 0
        var report = StageReport()
        var lastCommit: Instant?
        var busySince: Instant?
        var hubHeard: Instant?
        var stopped = false
    }

    private let instance: String
    private let plugin: String
    private let state = Mutex(State())

    init(instance: String, plugin: String) {
        self.instance = instance
        self.plugin = plugin
    }

    /// Takes over what a commit led to; true when others should hear of it before the next second.
    @discardableResult
    func update(head: StoreHead, generations: Int, epoch: Int64, report: StageReport, committed: Instant?) -> Bool {
        state.withLock { state in
            let changed = state.head != head || state.report != report
            state.head = head
            state.epoch = epoch
            state.report = report
            if let committed { state.lastCommit = committed }
            return changed
        }
    }

    func begin(_ monotonic: Instant) { state.withLock { $0.busySince = WallClock.now } }
    func end() { state.withLock { $0.busySince = nil } }
    func heardHub() { state.withLock { $0.hubHeard = MonotonicClock.now } }
    func stop() { state.withLock { $0.stopped = true } }

    func heartbeat(bus: BusConnection.Counters) -> Message? {
        let state = state.withLock { $0 }
        let hubIsThere = state.hubHeard.map { MonotonicClock.now - $0 < 5 * Instant.second } ?? false
        let phase = state.stopped ? "stopped" : hubIsThere ? "ready" : "running"
        return Heartbeat(
            instance: instance, plugin: plugin, phase: phase, pid: Int(ProcessInfo.processInfo.processIdentifier),
            epoch: state.epoch, head: state.head, heads: state.report.heads, frontier: state.report.frontier,
            lastCommit: state.lastCommit, busySince: state.busySince, memoryBytes: ProcessMemory.resident,
            details: state.report.details.merging(
                [
                    "messages": [
                        "sent": .integer(Int64(bus.sent)), "received": .integer(Int64(bus.received)),
                        "dropped": .integer(Int64(bus.dropped)), "malformed": .integer(Int64(bus.malformed)),
                    ]
                ], uniquingKeysWith: { own, _ in own })
        ).message(at: WallClock.now)
    }
}

/// Memory of this process.
public enum ProcessMemory {
    /// Resident set, bytes (/proc/self/statm); 0 where it can't be read.
    public static var resident: Int64 {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Int64(fields[1]) ?? 0) * 4096 : 0
    }
}
