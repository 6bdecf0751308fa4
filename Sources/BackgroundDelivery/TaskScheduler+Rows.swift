import HealthModel

/// What a task's host stores about it. One that was running is stored as interrupted, so that it runs again if its
/// process dies.
package struct KeptTask: Codable, Sendable, Equatable {
    @IfReadable var interrupted: TaskRequest?
    @IfReadable var pending: TaskRequest?
    /// Set for a pending task.
    @IfReadable var submitted: Instant?
    @IfReadable var history: TaskHistory?
}

extension TaskScheduler {
    /// What to store for each identifier, in the owner's transaction.
    package var rows: [String: KeptTask] {
        var rows: [String: KeptTask] = [:]
        for identifier in Set(pending.keys).union(running.keys).union(past.keys) {
            var row = KeptTask(interrupted: nil, pending: nil, submitted: nil, history: past[identifier])
            if let task = running[identifier] {
                row.interrupted = task.request
            } else if let waiting = pending[identifier], waiting.wasInterrupted {
                row.interrupted = waiting.request
            }
            if let waiting = pending[identifier], !waiting.wasInterrupted {
                row.pending = waiting.request
                row.submitted = waiting.submitted
            }
            rows[identifier] = row
        }
        return rows
    }

    /// Restores what was stored; call it once, after `register`. Anything no longer registered is left out.
    package mutating func restore(_ rows: [String: KeptTask]) {
        for (identifier, row) in rows where registered[identifier] != nil {
            if let request = row.pending?.named(identifier) {
                pending[identifier] = Pending(request: request, submitted: row.submitted ?? .epoch)
            }
            if let request = row.interrupted?.named(identifier) {
                // The interrupted run takes the place of the next one: once it runs, the task is submitted again.
                pending[identifier] = Pending(
                    request: request, submitted: row.submitted ?? .epoch, wasInterrupted: true)
            }
            if let history = row.history { past[identifier] = history }
        }
    }
}

extension TaskRequest {
    fileprivate func named(_ identifier: String) -> TaskRequest {
        var request = self
        request.identifier = identifier
        return request
    }
}

/// A registered task in a heartbeat: what it is, whether it is waiting or running, why it is waiting, and how its last
/// run went.
package struct ScheduledTask: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable { case idle, pending, running, expiring }

    package var id: String
    /// nil if only the task's stored row is known.
    package var kind: TaskKind?
    package var state: State
    /// Set only while the task is pending or running.
    package var request: TaskRequest?
    /// Why the task doesn't begin, while it is pending.
    package var waitsFor: String?
    package var progress: TaskProgress?
    package var history: TaskHistory?

    /// The same reason, if it lies in the task itself and not in its host's silence.
    package var obstacle: TaskObstacle? { waitsFor.flatMap(TaskObstacle.init(rawValue:)) }

    package init(id: String, state: State) { (self.id, self.state) = (id, state) }

    /// Creates a task from what is stored about it while its host isn't running.
    package init(id: String, kept row: KeptTask) {
        request = row.pending ?? row.interrupted
        history = row.history
        self.id = id
        state = request == nil ? .idle : .pending
    }
}

extension TaskScheduler {
    package func tasks(_ conditions: TaskConditions) -> [ScheduledTask] {
        registered.keys.sorted().map { identifier in
            let running = running[identifier]
            let waiting = running == nil ? pending[identifier] : nil
            var task = ScheduledTask(
                id: identifier,
                state: running.map { $0.expiresFully != nil ? .expiring : .running }
                    ?? (waiting != nil ? .pending : .idle))
            task.kind = registered[identifier]
            task.request = running?.request ?? waiting?.request
            if waiting != nil {
                let obstacle = obstacle(identifier, conditions) ?? (launcher == .device ? .device : nil)
                task.waitsFor = obstacle?.rawValue
            }
            task.progress = running?.progress
            task.history = history(identifier)
            return task
        }
    }
}
