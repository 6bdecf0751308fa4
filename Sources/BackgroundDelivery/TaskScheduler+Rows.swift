import HealthModel

extension TaskScheduler {
    /// What is kept of each identifier, for the owner's transaction. A running task is kept as pending: should its process die, it is to run again.
    public var rows: [String: Value] {
        var rows: [String: Value] = [:]
        for identifier in Set(pending.keys).union(running.keys).union(past.keys) {
            var row: [String: Value] = [:]
            if let task = running[identifier] {
                row["interrupted"] = task.request.wireValue
            } else if let waiting = pending[identifier], waiting.wasInterrupted {
                row["interrupted"] = waiting.request.wireValue
            }
            if let waiting = pending[identifier], !waiting.wasInterrupted {
                row["pending"] = waiting.request.wireValue
                row["submitted"] = .integer(waiting.submitted)
            }
            if let history = past[identifier] { row["history"] = history.wireValue }
            rows[identifier] = .object(row)
        }
        return rows
    }

    /// Takes up what was kept; once, after `register`. What isn't registered any more is left out.
    public mutating func restore(_ rows: [String: Value]) {
        for (identifier, row) in rows where registered[identifier] != nil {
            if let request = TaskRequest(identifier, wireValue: row["pending"]) {
                pending[identifier] = Pending(request: request, submitted: row["submitted"].int ?? 0)
            }
            if let request = TaskRequest(identifier, wireValue: row["interrupted"]) {
                // It takes the place of its own next run: once it runs it is submitted again.
                pending[identifier] = Pending(
                    request: request, submitted: row["submitted"].int ?? 0, wasInterrupted: true)
            }
            if let history = TaskHistory(wireValue: row["history"]) { past[identifier] = history }
        }
    }
}

extension TaskRequest {
    public var wireValue: Value {
        [
            "earliestBegin": earliestBegin.map { .integer($0) } ?? .null, "network": .bool(requiresNetwork),
            "power": .bool(requiresPower), "title": .string(title), "subtitle": .string(subtitle),
            "strategy": .string(strategy.rawValue),
        ]
    }

    init?(_ identifier: String, wireValue value: Value) {
        guard let network = value["network"].bool, let power = value["power"].bool else { return nil }
        self.init(
            identifier, earliestBegin: value["earliestBegin"].int, requiresNetwork: network, requiresPower: power,
            title: value["title"].string ?? "", subtitle: value["subtitle"].string ?? "",
            strategy: value["strategy"].string.flatMap(Strategy.init(rawValue:)) ?? .queue)
    }
}

extension TaskHistory {
    public var wireValue: Value {
        [
            "runs": .integer(runs), "lastBegin": lastBegin.map { .integer($0) } ?? .null,
            "lastDuration": .integer(lastDuration), "lastOutcome": Value(lastOutcome?.rawValue),
        ]
    }

    init?(wireValue value: Value) {
        guard let runs = value["runs"].int else { return nil }
        self.init()
        self.runs = runs
        lastBegin = value["lastBegin"].int
        lastDuration = value["lastDuration"].int ?? 0
        lastOutcome = value["lastOutcome"].string.flatMap(Outcome.init(rawValue:))
    }
}

extension TaskScheduler {
    /// All registered tasks, for `details.tasks`: what each is, whether it waits or runs, why it waits, how its last run went.
    public func wireValue(_ conditions: TaskConditions) -> Value {
        .array(
            registered.keys.sorted().map { identifier in
                let task = running[identifier]
                let request = task?.request ?? pending[identifier]?.request
                let state =
                    task != nil
                    ? (task?.expiresFully != nil ? "expiring" : "running")
                    : pending[identifier] != nil ? "pending" : "idle"
                var row: [String: Value] = [
                    "id": .string(identifier), "kind": Value(registered[identifier]?.rawValue), "state": .string(state),
                    "history": history(identifier).wireValue,
                ]
                if let request { row["request"] = request.wireValue }
                if task == nil, pending[identifier] != nil {
                    let waits = obstacle(identifier, conditions) ?? (launcher == .device ? .device : nil)
                    row["waitsFor"] = Value(waits?.rawValue)
                }
                if let progress = task?.progress {
                    row["progress"] = ["done": .integer(progress.done), "total": .integer(progress.total)]
                }
                return .object(row)
            })
    }
}
