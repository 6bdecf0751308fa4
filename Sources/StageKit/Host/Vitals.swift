import Changelog
import Clocks
import Foundation
import HealthModel
import MessageBus
import Protocol
import Synchronization

/// The content of an instance's heartbeats. The stage's thread writes it and the bus thread reads it, so that long work
/// isn't mistaken for a dead process, nor a hang for a healthy one.
final class Vitals: Sendable {
    private struct State {
        var head: StoreHead?
        var epoch: Int64 = 0
        var report = StageReport()
        var lastCommit: Instant?
        var busySince: Instant?
        var turnBegan = MonotonicTime.distantPast
        var turns = Heartbeat.Turns(count: 0, busy: 0)
        var presence = Presence(at: MonotonicClock.now)
        var stopped = false
    }

    private let instance: String
    private let plugin: String
    private let configuration: String?
    private let state = Mutex(State())

    init(instance: String, plugin: String, configuration: String?) {
        (self.instance, self.plugin, self.configuration) = (instance, plugin, configuration)
    }

    /// Adopts the result of a commit; returns true if others should hear of it at once.
    @discardableResult
    func update(head: StoreHead, epoch: Int64, report: StageReport, committed: Instant?) -> Bool {
        state.withLock { state in
            let changed = state.head != head || report.differs(from: state.report)
            if changed { state.presence.moved(at: MonotonicClock.now) }
            state.head = head
            state.epoch = epoch
            state.report = report
            if let committed { state.lastCommit = committed }
            return changed
        }
    }

    func begin(at now: MonotonicTime) {
        state.withLock { state in
            state.busySince = WallClock.now
            state.turnBegan = now
        }
    }

    func end() {
        state.withLock { state in
            state.busySince = nil
            state.turns.count += 1
            state.turns.busy += max(0, (MonotonicClock.now - state.turnBegan).microseconds)
        }
    }

    /// Notes that the instance's own heartbeat has come back over the bus. Returns true if others should hear of it at
    /// once that it is on the bus.
    func heardSelf() -> Bool { state.withLock { $0.presence.heardSelf(at: MonotonicClock.now) } }

    /// How soon the next heartbeat is due.
    var pace: BusConnection.Pace {
        let now = MonotonicClock.now
        return state.withLock { state in
            let isBusy = state.busySince != nil && now - state.turnBegan >= Repetition.lively
            return state.presence.pace(at: now, isBusy: isBusy)
        }
    }

    func stop() { state.withLock { $0.stopped = true } }

    /// - Parameter refusals: why others refuse this instance's requests, keyed by `producer/query`.
    func heartbeat(bus: BusConnection.Counters, refusals: [String: String]) -> Message? {
        let now = MonotonicClock.now
        let state = state.withLock { state in
            defer { state.presence.said(at: now) }
            return state
        }
        var own = StageDetails()
        own.messages = BusCounts(
            sent: bus.sent, received: bus.received, dropped: bus.dropped, malformed: bus.malformed,
            foreign: bus.foreign)
        own.refusals = refusals
        let phase: Heartbeat.Phase =
            state.stopped ? .stopped : state.presence.isOnBus(at: now) ? .ready : .running
        return Heartbeat(
            instance: instance, plugin: plugin, phase: phase, pid: Int(ProcessInfo.processInfo.processIdentifier),
            epoch: state.epoch, head: state.head, heads: state.report.heads, frontier: state.report.frontier,
            lastCommit: state.lastCommit, busySince: state.busySince, memory: ProcessUse.memory,
            cpu: ProcessUse.processorTime, started: ProcessUse.started, turns: state.turns,
            configuration: configuration,
            details: HeartbeatDetails(state.report.allDetails, own)
        ).message(at: WallClock.now)
    }
}
