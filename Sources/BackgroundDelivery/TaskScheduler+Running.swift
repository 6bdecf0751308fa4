import HealthModel

extension TaskScheduler {
    /// Why a pending task doesn't begin now; nil when it may. Also nil for a task that isn't pending.
    package func obstacle(_ identifier: String, _ conditions: TaskConditions) -> TaskObstacle? {
        guard let request = pending[identifier]?.request else { return nil }
        let device = conditions.device
        if device.app == .forceQuit { return .forceQuit }
        if running[identifier] != nil { return .running }
        if registered[identifier] == .continued {
            return obstacle(toContinued: request, conditions)
        }
        if let earliest = request.earliestBegin, conditions.now < earliest { return .notYet }
        if request.requiresNetwork, conditions.hasNetwork == false { return .noNetwork }
        if request.requiresPower, !device.isCharging || conditions.machine?.isCharging == false { return .noPower }
        if conditions.needsIdleMachine, registered[identifier] == .processing, let machine = conditions.machine {
            if machine.isLowOnBattery { return .lowBattery }
            if machine.isBusy { return .busy }
        }
        if device.isLowPowerMode { return .lowPowerMode }
        if device.isDeferring, device.app != .active { return .deferred }
        if registered[identifier] == .refresh, device.app != .active,
            conditions.nextWake.map({ conditions.now < $0 }) ?? false
        {
            return .noWakes
        }
        return nil
    }

    /// Why a continued task can't begin now.
    func obstacle(toContinued request: TaskRequest, _ conditions: TaskConditions) -> TaskObstacle? {
        if running.keys.contains(where: { registered[$0] == .continued }) { return .queued }
        let needsNetwork = request.resources?.contains(.network) ?? false
        return needsNetwork && conditions.hasNetwork == false ? .noNetwork : nil
    }

    /// Begins the tasks that may begin on their own, and returns their identifiers. If `launcher` is `device`, only
    /// continued tasks begin, since their user has started them.
    package mutating func beginDue(_ conditions: TaskConditions) -> [String] {
        var begun: [String] = []
        for identifier in pending.keys.sorted()
        where launcher == .own || registered[identifier] == .continued {
            // Checked one by one, because a continued task that begins holds up the next one.
            guard registered[identifier] != nil, obstacle(identifier, conditions) == nil else { continue }
            begin(identifier, conditions)
            begun.append(identifier)
        }
        return begun
    }

    /// Begins one pending task at the request of the device or a person.
    /// - Parameter forced: ignores its conditions, as a debugger does; nothing launches a force-quit app.
    /// - Returns: why it didn't begin; nil when it did, or is running already and no other request is pending.
    package mutating func launch(
        _ identifier: String, forced: Bool = false, _ conditions: TaskConditions
    ) throws(DeliveryError) -> TaskObstacle? {
        guard registered[identifier] != nil else {
            throw DeliveryError(
                .notRegistered, identifier,
                remedy: "use one of \(registered.keys.sorted().joined(separator: ", "))")
        }
        guard pending[identifier] != nil else {
            guard running[identifier] == nil else { return nil }
            throw DeliveryError(.notRegistered, identifier, remedy: "no request is pending; submit one first")
        }
        if let obstacle = obstacle(identifier, conditions),
            !forced || obstacle == .forceQuit || obstacle == .running || obstacle == .queued
        {
            return obstacle
        }
        begin(identifier, conditions)
        return nil
    }

    private mutating func begin(_ identifier: String, _ conditions: TaskConditions) {
        guard let request = pending.removeValue(forKey: identifier)?.request else { return }
        running[identifier] = Running(
            request: request, began: conditions.now,
            deadline: registered[identifier]?.runtime.map { conditions.monotonic + $0 })
        var history = history(identifier)
        history.runs += 1
        history.lastBegin = conditions.now
        past[identifier] = history
    }

    /// Returns the tasks whose runtime is over: their expiration handlers must be called now, once. They complete, or
    /// are ended by `endOverrun`.
    package mutating func expire(_ conditions: TaskConditions) -> [String] {
        let due = running.filter {
            $0.value.expiresFully == nil && ($0.value.deadline.map { $0 <= conditions.monotonic } ?? false)
        }.keys.sorted()
        for identifier in due { startExpiring(identifier, conditions) }
        return due
    }

    /// Makes one running task expire early; returns true if it is running and wasn't expiring yet.
    package mutating func expire(_ identifier: String, _ conditions: TaskConditions) -> Bool {
        guard let task = running[identifier], task.expiresFully == nil else { return false }
        startExpiring(identifier, conditions)
        return true
    }

    private mutating func startExpiring(_ identifier: String, _ conditions: TaskConditions) {
        running[identifier]?.expiresFully = conditions.monotonic + Self.expirationGrace
    }

    /// Ends tasks that have expired but didn't complete, and returns their identifiers.
    package mutating func endOverrun(_ conditions: TaskConditions) -> [String] {
        let late = running.filter { ($0.value.expiresFully ?? .distantFuture) <= conditions.monotonic }.keys.sorted()
        for identifier in late { end(identifier, .overran, conditions) }
        return late
    }

    /// `setTaskCompleted(success:)`; returns false when the task isn't running.
    @discardableResult
    package mutating func complete(_ identifier: String, success: Bool, _ conditions: TaskConditions) -> Bool {
        guard let task = running[identifier] else { return false }
        end(identifier, task.expiresFully != nil ? .expired : success ? .succeeded : .failed, conditions)
        return true
    }

    /// Ends a running continued task at its user's request; returns true if it was running.
    package mutating func cancelRunning(_ identifier: String, _ conditions: TaskConditions) -> Bool {
        guard registered[identifier] == .continued, running[identifier] != nil else { return false }
        end(identifier, .cancelled, conditions)
        return true
    }

    private mutating func end(_ identifier: String, _ outcome: TaskHistory.Outcome, _ conditions: TaskConditions) {
        guard let task = running.removeValue(forKey: identifier) else { return }
        var history = history(identifier)
        history.lastOutcome = outcome
        history.lastDuration = max(0, (conditions.now - task.began).microseconds)
        past[identifier] = history
    }

    package mutating func report(_ progress: TaskProgress, of identifier: String) {
        running[identifier]?.progress = progress
    }

    /// When to check again: the next earliest start or end of a runtime; nil when only a change of conditions or a
    /// command matters.
    package func nextDeadline(_ conditions: TaskConditions) -> MonotonicTime? {
        let ends = running.values.compactMap { $0.expiresFully ?? $0.deadline }
        let begins = pending.filter { obstacle($0.key, conditions) == .notYet && launcher == .own }
            .compactMap(\.value.request.earliestBegin).map { conditions.monotonic + ($0 - conditions.now) }
        let isHeldUp = launcher == .own && pending.keys.contains { obstacle($0, conditions) == .noWakes }
        let wake = isHeldUp ? conditions.nextWake.map { conditions.monotonic + ($0 - conditions.now) } : nil
        return (ends + begins + [wake].compactMap { $0 }).min()
    }
}
