import Processes

extension SupervisionTree {
    /// Whether the groups after this process still have to wait for it.
    func isHeldUp(by member: Member) -> Bool {
        guard case .starting(let group) = phase, member.spec.group <= group, member.readyBy != nil else { return false }
        return member.state == .starting || member.state == .backoff
    }

    /// Starts the lowest group above `group`; if there is none, everything is running.
    mutating func startGroup(after group: Int?, at now: Duration, _ actions: inout [Action]) {
        let next = members.lazy.map(\.spec.group).filter { candidate in group.map { candidate > $0 } ?? true }.min()
        guard let next else {
            phase = .running
            return
        }
        phase = .starting(group: next)
        for index in members.indices where members[index].spec.group == next && members[index].state == .waiting {
            members[index].readyBy = now + members[index].spec.readyWithin
            spawn(index, at: now, &actions)
        }
    }

    /// Moves on to the next group, up or down, once the current one has settled.
    mutating func advance(at now: Duration, _ actions: inout [Action]) {
        // A group that has just been started delays the next one, so its spawns have been answered by the time this
        // continues.
        while case .starting(let group) = phase, !members.contains(where: isHeldUp) {
            startGroup(after: group, at: now, &actions)
        }
        if phase == .stopping { stopGroups(at: now, &actions) }
        let isOver = members.allSatisfy { ($0.state == .stopped || $0.state == .failed) && !$0.isHeld }
        if phase == .running, isOver { finish(&actions) }
    }

    mutating func beginStop(_ actions: inout [Action]) {
        guard phase != .stopping else { return }
        phase = .stopping
        actions.append(.report(.stopping))
        // Nothing new is started from now on; whatever is still running ends group by group.
        for index in members.indices where members[index].pid == nil {
            members[index].retryAt = nil
            if members[index].state != .failed { members[index].state = .stopped }
        }
    }

    private mutating func stopGroups(at now: Duration, _ actions: inout [Action]) {
        guard let highest = members.lazy.filter({ $0.pid != nil }).map(\.spec.group).max() else {
            finish(&actions)
            return
        }
        for index in members.indices where members[index].spec.group == highest {
            terminate(index, at: now, &actions)
        }
    }

    private mutating func finish(_ actions: inout [Action]) {
        phase = .finished
        actions += [.report(.finished), .finished]
    }

    mutating func killAll(_ actions: inout [Action]) {
        beginStop(&actions)
        for index in members.indices where members[index].pid != nil {
            members[index].state = .stopping
            members[index].killAt = nil
            actions.append(.kill(name: members[index].spec.name))
        }
    }

    mutating func tick(at now: Duration, _ actions: inout [Action]) {
        for index in members.indices {
            let name = members[index].spec.name
            if let retryAt = members[index].retryAt, retryAt <= now { spawn(index, at: now, &actions) }
            if let killAt = members[index].killAt, killAt <= now {
                members[index].killAt = nil
                actions += [.report(.killed(name: name)), .kill(name: name)]
            }
            if let until = members[index].handover?.until, until <= now { giveUpSuccessor(of: index, &actions) }
            if let readyBy = members[index].readyBy, readyBy <= now {
                if isHeldUp(by: members[index]) {
                    actions.append(.report(.notReady(name: name, after: members[index].spec.readyWithin)))
                }
                members[index].readyBy = nil
            }
        }
    }
}
