import Glibc
import Processes

/// The decisions of supervision, separate from its effects: events and the current time go in, and actions come out.
///
/// Times are measured by a monotonic clock, from an arbitrary fixed moment. Groups start in ascending order, each once
/// the previous one has settled (ready, down for good, or late), and stop in descending order. Between a `spawn` and
/// the `started` or `spawnFailed` that answers it, no event may be handled except such answers.
package struct SupervisionTree: Sendable {
    package enum Event: Sendable, Equatable {
        /// Starts the first group.
        case begin
        case started(name: String, pid: pid_t)
        case spawnFailed(name: String, reason: String)
        case ready(name: String)
        case exited(name: String, status: ProcessExit)
        /// Time has passed. To be sent at `nextDeadline`; harmless at any other time.
        case tick
        /// Ends everything, in reverse order.
        case stop
        /// Ends everything at once, without a chance to drain.
        case kill
        /// Ends one process, which then stays down.
        case stopProcess(name: String)
        /// Starts a process that is down, skipping its back-off.
        case startProcess(name: String)
        /// Ends a process and starts it with this specification, which replaces the one with the same name; adds it if
        /// there is none.
        case replace(ProcessSpec)
        /// Starts a process beside the one that it is to replace. It waits until it is promoted, and isn't restarted.
        /// Once it has taken over, the second specification applies, which has the name of the replaced process.
        case standBy(ProcessSpec, becoming: ProcessSpec)
        /// Ends the process to be replaced, signals its replacement, and gives that one this much time to become ready;
        /// otherwise the old process is started again.
        case promote(name: String, within: Duration)
    }

    package enum Action: Sendable, Equatable {
        case spawn(ProcessSpec)
        case signal(name: String, number: Int32)
        /// Sends SIGKILL to the process; the rest of its process group is killed when it is reaped.
        case kill(name: String)
        /// From now on, the process with the first name has the second name.
        case rename(String, to: String)
        case report(SupervisorNotice)
        /// Every process has ended and none will start again. The last action.
        case finished
    }

    var members: [Member]
    var phase: Phase = .created
    var generator: any RandomNumberGenerator & Sendable

    enum Phase: Sendable, Equatable {
        case created
        /// Starting the groups up to and including this one.
        case starting(group: Int)
        case running
        case stopping
        case finished
    }

    /// - Parameters:
    ///   - held: processes that stay down until they are started by name.
    ///   - generator: the source of jitter.
    /// - Throws: `ProcessError` when two processes have the same name.
    package init(
        _ specs: [ProcessSpec], held: Set<String> = [],
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws(ProcessError) {
        var names = Set<String>()
        for spec in specs where !names.insert(spec.name).inserted {
            throw ProcessError(
                .configuration, "two processes are named \(spec.name)", hint: "give every process its own name")
        }
        members = specs.map(Member.init)
        for index in members.indices where held.contains(members[index].spec.name) {
            members[index].isHeld = true
            members[index].state = .stopped
        }
        self.generator = generator
    }

    package var statuses: [ProcessStatus] { members.map(\.status) }
    package var isFinished: Bool { phase == .finished }

    /// The time by which the next `tick` is due; nil when only events matter.
    package var nextDeadline: Duration? {
        members.compactMap { member in
            [member.retryAt, member.killAt, member.handover?.until, isHeldUp(by: member) ? member.readyBy : nil]
                .compactMap(\.self).min()
        }.min()
    }

    /// Handles one event at the time `now`, and returns the actions to take, in order.
    package mutating func handle(_ event: Event, at now: Duration) -> [Action] {
        guard phase != .finished else { return [] }
        var actions: [Action] = []
        switch event {
        case .begin:
            if phase == .created { startGroup(after: nil, at: now, &actions) }
        case .stop: beginStop(&actions)
        case .kill: killAll(&actions)
        case .tick: tick(at: now, &actions)
        case .replace(let spec): replace(spec, at: now, &actions)
        case .standBy(let spec, let settled): standBy(spec, becoming: settled, at: now, &actions)
        case .started(let name, _), .spawnFailed(let name, _), .ready(let name), .exited(let name, _),
            .stopProcess(let name), .startProcess(let name), .promote(let name, _):
            if let index = members.firstIndex(where: { $0.spec.name == name }) {
                handle(event, member: index, at: now, &actions)
            }
        }
        advance(at: now, &actions)
        return actions
    }

    private mutating func handle(_ event: Event, member index: Int, at now: Duration, _ actions: inout [Action]) {
        switch event {
        case .started(_, let pid): started(index, pid: pid, at: now, &actions)
        case .spawnFailed(let name, let reason):
            if members[index].place != nil { return standbyEnded(index, why: reason, at: now, &actions) }
            actions.append(.report(.startFailed(name: name, reason: reason)))
            failed(index, status: nil, at: now, &actions)
        case .ready(let name):
            guard members[index].state == .starting else { return }
            if members[index].place != nil { return tookPlace(index, at: now, &actions) }
            members[index].state = .ready
            members[index].readyAt = now
            members[index].wasReady = true
            actions.append(.report(.ready(name: name)))
        case .exited(_, let status): exited(index, status: status, at: now, &actions)
        case .stopProcess: stopMember(index, at: now, &actions)
        case .startProcess: startMember(index, at: now, &actions)
        case .promote(_, let within): promote(index, within: within, at: now, &actions)
        case .begin, .tick, .stop, .kill, .replace, .standBy: break
        }
    }
}
