import Glibc
import Processes

extension SupervisionTree {
    /// One process's place in the tree.
    struct Member: Sendable {
        var spec: ProcessSpec
        var state: ProcessState = .waiting
        var pid: pid_t?
        var starts = 0
        /// The number of consecutive failures without a healthy period in between.
        var failures = 0
        var lastExit: ProcessExit?
        var readyAt: Duration?
        /// When the groups after it stop waiting for it; nil once they have stopped.
        var readyBy: Duration?
        /// When it restarts.
        var retryAt: Duration?
        /// When SIGKILL will follow SIGTERM.
        var killAt: Duration?
        /// The specification to restart it with as soon as it has ended.
        var replacement: ProcessSpec?
        /// Whether it is down because a person stopped it, or because another process is about to replace it.
        var isHeld = false
        var wasReady = false
        /// The process that it is to replace; nil for a process with a place of its own.
        var place: String?
        /// How it is restarted once it has taken that place.
        var settled: ProcessSpec?
        /// Set while another process is replacing this one.
        var handover: Handover?

        init(_ spec: ProcessSpec) { self.spec = spec }

        var status: ProcessStatus {
            ProcessStatus(
                name: spec.name, state: state, pid: pid, place: place, restarts: max(0, starts - 1), lastExit: lastExit)
        }
    }

    /// Starts it now.
    mutating func spawn(_ index: Int, at now: Duration, _ actions: inout [Action]) {
        members[index].state = .starting
        members[index].retryAt = nil
        members[index].readyAt = nil
        members[index].isHeld = false
        var spec = members[index].spec
        if members[index].wasReady { spec.arguments += spec.argumentsOnceReady }
        actions.append(.spawn(spec))
    }

    mutating func started(_ index: Int, pid: pid_t, at now: Duration, _ actions: inout [Action]) {
        members[index].pid = pid
        members[index].starts += 1
        actions.append(.report(.started(name: members[index].spec.name, pid: pid)))
    }

    mutating func exited(_ index: Int, status: ProcessExit, at now: Duration, _ actions: inout [Action]) {
        let name = members[index].spec.name
        let wasAsked = members[index].state == .stopping
        members[index].pid = nil
        members[index].killAt = nil
        members[index].lastExit = status
        if members[index].place != nil {
            return standbyEnded(
                index, why: "\(status)", wasDismissed: wasAsked && status.isSuccess, at: now, &actions)
        }
        guard wasAsked else {
            if let readyAt = members[index].readyAt, now - readyAt >= members[index].spec.restart.healthyAfter {
                members[index].failures = 0
            }
            failed(index, status: status, at: now, &actions)
            return
        }
        actions.append(.report(.stopped(name: name, status: status)))
        members[index].state = .stopped
        if members[index].handover != nil { return makeRoom(index, at: now, &actions) }
        if let replacement = members[index].replacement, phase != .stopping {
            members[index].spec = replacement
            members[index].failures = 0
            spawn(index, at: now, &actions)
        }
        members[index].replacement = nil
    }

    /// Handles a process that ended on its own, or couldn't be started (then `status` is nil): it restarts later, or
    /// never.
    mutating func failed(_ index: Int, status: ProcessExit?, at now: Duration, _ actions: inout [Action]) {
        let spec = members[index].spec
        members[index].failures += 1
        let failures = members[index].failures
        if let status { actions.append(.report(.exited(name: spec.name, status: status, failures: failures))) }
        let isSuccess = status?.isSuccess ?? false
        if spec.restart.mode.staysDown(afterSuccess: isSuccess) || phase == .stopping {
            members[index].state = isSuccess ? .stopped : .failed
        } else if let limit = spec.restart.giveUpAfter, failures >= limit {
            members[index].state = .failed
            actions.append(.report(.gaveUp(name: spec.name, failures: failures)))
        } else {
            let delay = spec.restart.delay(failures: failures, using: &generator)
            members[index].state = .backoff
            members[index].retryAt = now + delay
            actions.append(.report(.restarting(name: spec.name, delay: delay)))
        }
    }

    /// Sends SIGTERM now and SIGKILL later; a process that isn't running just stays down.
    mutating func terminate(_ index: Int, at now: Duration, _ actions: inout [Action]) {
        members[index].retryAt = nil
        members[index].readyBy = nil
        guard members[index].pid != nil else {
            if members[index].state != .failed { members[index].state = .stopped }
            return
        }
        guard members[index].state != .stopping else { return }
        members[index].state = .stopping
        members[index].killAt = now + members[index].spec.stopWithin
        let name = members[index].spec.name
        actions.append(.signal(name: name, number: SIGTERM))
        // A paused process wouldn't receive SIGTERM until it is resumed.
        actions.append(.signal(name: name, number: SIGCONT))
    }

    mutating func stopMember(_ index: Int, at now: Duration, _ actions: inout [Action]) {
        dismissSuccessor(of: index, at: now, &actions)
        members[index].isHeld = true
        members[index].replacement = nil
        terminate(index, at: now, &actions)
    }

    mutating func startMember(_ index: Int, at now: Duration, _ actions: inout [Action]) {
        guard phase != .stopping, members[index].handover == nil, members[index].place == nil else { return }
        switch members[index].state {
        case .stopped, .failed, .backoff:
            members[index].failures = 0
            spawn(index, at: now, &actions)
        // It starts as soon as the previous run has ended.
        case .stopping: members[index].replacement = members[index].replacement ?? members[index].spec
        case .waiting, .starting, .ready, .standby: break
        }
    }

    mutating func replace(_ spec: ProcessSpec, at now: Duration, _ actions: inout [Action]) {
        guard phase != .stopping else { return }
        guard let index = members.firstIndex(where: { $0.spec.name == spec.name }) else {
            members.append(Member(spec))
            if phase != .created { spawn(members.count - 1, at: now, &actions) }
            return
        }
        dismissSuccessor(of: index, at: now, &actions)
        if members[index].pid != nil {
            members[index].replacement = spec
            terminate(index, at: now, &actions)
        } else {
            members[index].spec = spec
            members[index].failures = 0
            if members[index].state != .waiting { spawn(index, at: now, &actions) }
        }
    }
}
