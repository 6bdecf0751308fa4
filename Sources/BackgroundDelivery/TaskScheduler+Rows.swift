import HealthModel

extension TaskScheduler {
    /// What is kept of each identifier, for the owner's transaction. A running task is kept as pending: should its process die, it is to run again.
    package var rows: [String: Value] {
        var rows: [String: Value] = [:]
        for identifier in Set(pending.keys).union(running.keys).union(past.keys) {
            var row: [String: Value] = [:]
            if let task = running[identifier] {
                row["interrupted"] = Value(task.request)
            } else if let waiting = pending[identifier], waiting.wasInterrupted {
                row["interrupted"] = Value(waiting.request)
            }
            if let waiting = pending[identifier], !waiting.wasInterrupted {
                row["pending"] = Value(waiting.request)
                row["submitted"] = .integer(waiting.submitted)
            }
            if let history = past[identifier] { row["history"] = Value(history) }
            rows[identifier] = .object(row)
        }
        return rows
    }

    /// Takes up what was kept; once, after `register`. What isn't registered any more is left out.
    package mutating func restore(_ rows: [String: Value]) {
        for (identifier, row) in rows where registered[identifier] != nil {
            if let request = request(identifier, row["pending"]) {
                pending[identifier] = Pending(request: request, submitted: row["submitted"].int ?? 0)
            }
            if let request = request(identifier, row["interrupted"]) {
                // It takes the place of its own next run: once it runs it is submitted again.
                pending[identifier] = Pending(
                    request: request, submitted: row["submitted"].int ?? 0, wasInterrupted: true)
            }
            if let history = row["history"].read(TaskHistory.self) { past[identifier] = history }
        }
    }

    private func request(_ identifier: String, _ kept: Value) -> TaskRequest? {
        var request = kept.read(TaskRequest.self)
        request?.identifier = identifier
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
    package init(id: String, kept row: Value) {
        request = row["pending"].read() ?? row["interrupted"].read()
        history = row["history"].read()
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
