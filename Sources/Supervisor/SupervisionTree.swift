import Glibc
import Processes

/// What supervising decides, apart from its effects: events and the time go in, actions come out.
///
/// Times are a monotonic clock's, since any fixed moment. Groups start in rising order, each once the one before has settled
/// (ready, down for good, or late), and stop in falling order. Between a `spawn` and the `started` or
/// `spawnFailed` that answers it, nothing else may be handled.
package struct SupervisionTree: Sendable {
    package enum Event: Sendable, Equatable {
        /// Starts the first group.
        case begin
        case started(name: String, pid: pid_t)
        case spawnFailed(name: String, reason: String)
        case ready(name: String)
        case exited(name: String, status: ProcessExit)
        /// Time has passed: to be sent at `nextDeadline`, harmless at any time.
        case tick
        /// Ends all, in reverse order.
        case stop
        /// Ends all at once, without a chance to drain.
        case kill
        /// Ends one process, which then stays down.
        case stopProcess(name: String)
        /// Starts one that is down, without its back-off.
        case startProcess(name: String)
        /// Ends one and starts it as this specification says, which takes its place by name; adds it where there is none.
        case replace(ProcessSpec)
        /// Starts one beside the process in whose place it is to go. It waits there until it is promoted, and isn't started again; once it
        /// has the place it is as the second specification says, which bears that one's name.
        case standBy(ProcessSpec, becoming: ProcessSpec)
        /// Ends the process in whose place this one is to go, tells this one, and gives it so long to be ready. If it isn't, the other starts again.
        case promote(name: String, within: Duration)
    }

    package enum Action: Sendable, Equatable {
        case spawn(ProcessSpec)
        case signal(name: String, number: Int32)
        /// SIGKILL, its process group included.
        case kill(name: String)
        /// The process of this name is the one of that name from now on.
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
        /// Starting the groups up to this one.
        case starting(group: Int)
        case running
        case stopping
        case finished
    }

    /// - Parameters:
    ///   - held: processes that are down until they are started by name.
    ///   - generator: the source of jitter.
    /// - Throws: `ProcessError` when two processes have one name.
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

    /// When `tick` must come at the latest; nil when only events matter.
    package var nextDeadline: Duration? {
        members.compactMap { member in
            [member.retryAt, member.killAt, member.handover?.until, isHeldUp(by: member) ? member.readyBy : nil]
                .compactMap(\.self).min()
        }.min()
    }

    /// Handles one event at `now` and answers what to do, in this order.
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
