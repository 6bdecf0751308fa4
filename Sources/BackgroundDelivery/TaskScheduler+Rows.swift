import HealthModel

/// What is kept of a task by its host. One that ran is kept as interrupted: should its process have died, it is to run again.
package struct KeptTask: Codable, Sendable, Equatable {
    @IfReadable var interrupted: TaskRequest?
    @IfReadable var pending: TaskRequest?
    /// Of what is pending.
    @IfReadable var submitted: Instant?
    @IfReadable var history: TaskHistory?
}

extension TaskScheduler {
    /// What is kept of each identifier, for the owner's transaction.
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

    /// Takes up what was kept; once, after `register`. What isn't registered any more is left out.
    package mutating func restore(_ rows: [String: KeptTask]) {
        for (identifier, row) in rows where registered[identifier] != nil {
            if let request = row.pending?.named(identifier) {
                pending[identifier] = Pending(request: request, submitted: row.submitted ?? .epoch)
            }
            if let request = row.interrupted?.named(identifier) {
                // It takes the place of its own next run: once it runs it is submitted again.
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

/// A registered task as a heartbeat tells it: what it is, whether it waits or runs, why it waits, how its last run went.
package struct ScheduledTask: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable { case idle, pending, running, expiring }

    package var id: String
    /// nil where only its kept row is known.
    package var kind: TaskKind?
    package var state: State
    /// While it is pending or runs.
    package var request: TaskRequest?
    /// While it is pending: why it doesn't begin.
    package var waitsFor: String?
    package var progress: TaskProgress?
    package var history: TaskHistory?

    /// The same, where it is the task's own and not its host's silence.
    package var obstacle: TaskObstacle? { waitsFor.flatMap(TaskObstacle.init(rawValue:)) }

    package init(id: String, state: State) {
        self.id = id
        self.state = state
    }

    /// Of what is kept of a task whose host doesn't run.
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
