import Glibc
import Processes

/// Two processes for one place: one has it, and the other stands by to take it.
///
/// At most one of them does the work at a time, and in the end one of them always does: the second gets its signal only
/// once the first has ended, and the first restarts if the second ends before it is ready.
extension SupervisionTree {
    /// How a place passes to another process.
    struct Handover: Sendable {
        /// The name of the process that takes over.
        var successor: String
        /// How long that process may take to become ready.
        var within: Duration
        /// When the place became free; nil while the old process is draining.
        var began: Duration?
        /// The deadline for it to be ready; nil while the place isn't free, and after the deadline has passed.
        var until: Duration?
    }

    private func index(of name: String) -> Int? { members.firstIndex { $0.spec.name == name } }

    mutating func standBy(
        _ spec: ProcessSpec, becoming settled: ProcessSpec, at now: Duration, _ actions: inout [Action]
    ) {
        let place = settled.name
        guard phase == .running, index(of: spec.name) == nil, let holder = index(of: place),
            members[holder].place == nil, !members.contains(where: { $0.place == place })
        else {
            let why = "there is no such place, or another process is already standing by, or not all have started"
            actions.append(.report(.standbyEnded(name: spec.name, place: place, why: why)))
            return
        }
        var member = Member(spec)
        member.place = place
        member.settled = settled
        member.state = .standby
        members.append(member)
        actions.append(.spawn(spec))
    }

    mutating func promote(_ index: Int, within: Duration, at now: Duration, _ actions: inout [Action]) {
        guard phase == .running, members[index].state == .standby, members[index].pid != nil,
            let place = members[index].place, let holder = self.index(of: place), members[holder].handover == nil
        else { return }
        members[holder].handover = Handover(successor: members[index].spec.name, within: within)
        members[holder].replacement = nil
        members[holder].isHeld = true
        terminate(holder, at: now, &actions)
        if members[holder].pid == nil { makeRoom(holder, at: now, &actions) }
    }

    /// Hands over a place that is free: the process standing by for it gets the signal.
    mutating func makeRoom(_ index: Int, at now: Duration, _ actions: inout [Action]) {
        guard phase != .stopping, var handover = members[index].handover else { return }
        members[index].state = .stopped
        // The standby process has ended in the meantime, so no replacement is coming.
        guard let successor = self.index(of: handover.successor), members[successor].state == .standby else {
            return comeBack(index, at: now, &actions)
        }
        handover.began = now
        handover.until = now + handover.within
        members[index].handover = handover
        members[successor].state = .starting
        actions.append(.signal(name: handover.successor, number: SIGUSR1))
        actions.append(.signal(name: handover.successor, number: SIGCONT))
    }

    /// Gives the place to the process at `index`, which stood by, got the signal, and is ready now.
    mutating func tookPlace(_ index: Int, at now: Duration, _ actions: inout [Action]) {
        let successor = members[index]
        guard let place = successor.place, let settled = successor.settled, let pid = successor.pid,
            let holder = self.index(of: place),
            let handover = members[holder].handover, handover.successor == successor.spec.name,
            let began = handover.began
        else { return }
        members[holder].spec = settled
        members[holder].state = .ready
        members[holder].pid = pid
        members[holder].readyAt = now
        members[holder].wasReady = true
        members[holder].failures = 0
        members[holder].isHeld = false
        members[holder].handover = nil
        members.remove(at: index)
        actions.append(.rename(successor.spec.name, to: place))
        actions.append(.report(.tookPlace(place: place, pid: pid, after: now - began)))
    }

    /// Handles a successor that wasn't ready in time.
    mutating func giveUpSuccessor(of index: Int, _ actions: inout [Action]) {
        guard let handover = members[index].handover else { return }
        members[index].handover?.until = nil
        guard let successor = self.index(of: handover.successor) else { return }
        members[successor].state = .stopping
        actions += [.report(.killed(name: handover.successor)), .kill(name: handover.successor)]
    }

    /// Handles the end of a standby process; if its place was already free, the previous process comes back.
    mutating func standbyEnded(
        _ index: Int, why: String, wasDismissed: Bool = false, at now: Duration, _ actions: inout [Action]
    ) {
        let member = members.remove(at: index)
        guard let place = member.place else { return }
        actions.append(
            .report(.standbyEnded(name: member.spec.name, place: place, why: why, wasDismissed: wasDismissed)))
        guard let holder = self.index(of: place), members[holder].handover?.successor == member.spec.name else {
            return
        }
        // A process that is still draining comes back when it has finished.
        if members[holder].pid == nil { comeBack(holder, at: now, &actions) }
    }

    private mutating func comeBack(_ index: Int, at now: Duration, _ actions: inout [Action]) {
        members[index].handover = nil
        members[index].isHeld = false
        guard phase != .stopping else { return }
        members[index].failures = 0
        spawn(index, at: now, &actions)
    }

    /// Dismisses the process that was to take this place.
    mutating func dismissSuccessor(of index: Int, at now: Duration, _ actions: inout [Action]) {
        let name = members[index].spec.name
        members[index].handover = nil
        for other in members.indices where members[other].place == name { terminate(other, at: now, &actions) }
    }
}
