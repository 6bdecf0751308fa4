import BackgroundDelivery
import Changelog
import HealthModel
import Wire

/// Keeps a process's pulls until they are answered: collects the parts of an answer, drops stale ones, sends again on time-out. Pure.
package struct PullClient {
    private struct Pending {
        var pull: Pull
        var parts: [Value] = []
        var attempt = 0
        var deadline: Instant
    }

    private var pending: [Int64: Pending] = [:]
    package let consumer: String

    /// Waits 1 s for the first answer, up to 8 s later on: a producer that restarts is back in a second.
    private static func timeout(attempt: Int) -> Instant { Instant.second << min(attempt, 3) }

    package init(consumer: String) { self.consumer = consumer }

    /// The request to send for a new pull.
    package mutating func begin(_ pull: Pull, at monotonic: Instant) -> (topic: String, body: Value) {
        pending[pull.id] = Pending(pull: pull, deadline: monotonic + Self.timeout(attempt: 0))
        return request(pull, attempt: 0)
    }

    private func request(_ pull: Pull, attempt: Int) -> (topic: String, body: Value) {
        var body = pull.query
        body["id"] = .integer(pull.id)
        body["attempt"] = .integer(Int64(attempt))
        body["consumer"] = .string(consumer)
        return ("pull.\(pull.producer)", .object(body))
    }

    /// The complete answer once its last part is here; nil for a part, a repeat, or what nobody waits for.
    package mutating func receive(_ part: Value, at monotonic: Instant) -> PullAnswer? {
        guard let id = part["id"].int, var entry = pending[id], part["attempt"].int == Int64(entry.attempt) else {
            return nil
        }
        if let error = part["error"].string {
            pending[id] = nil
            if error == "reset", let head = StoreHead(wireValue: part["head"]) {
                return PullAnswer(pull: entry.pull, result: .reset(head))
            }
            if error == DeliveryError.Code.databaseInaccessible.rawValue {
                return PullAnswer(pull: entry.pull, result: .databaseInaccessible)
            }
            return PullAnswer(pull: entry.pull, result: .refused(part["reason"].string ?? error))
        }
        // A request that reached the producer twice has two answers. Those of one moment (one head) are the same; parts of two moments
        // don't fit together: a row that moved in between would be in neither.
        if part["part"].int == 0, let first = entry.parts.first, first["head"] != part["head"] { entry.parts = [] }
        if let first = entry.parts.first, first["head"] != part["head"] { return nil }
        // Parts come in order or not at all; a gap means that one was dropped, and the time-out asks again.
        guard part["part"].int == Int64(entry.parts.count) else { return nil }
        entry.parts.append(part)
        entry.deadline = monotonic + Self.timeout(attempt: entry.attempt)
        guard part["last"].bool == true else {
            pending[id] = entry
            return nil
        }
        pending[id] = nil
        return PullAnswer(pull: entry.pull, result: .pages(entry.parts))
    }

    /// Requests that are due again.
    package mutating func overdue(at monotonic: Instant) -> [(topic: String, body: Value)] {
        var again: [(topic: String, body: Value)] = []
        for (id, var entry) in pending.sorted(by: { $0.key < $1.key }) where entry.deadline <= monotonic {
            entry.attempt += 1
            entry.parts = []
            entry.deadline = monotonic + Self.timeout(attempt: entry.attempt)
            pending[id] = entry
            again.append(request(entry.pull, attempt: entry.attempt))
        }
        return again
    }

    /// Asks no more: nobody wants the answer any longer.
    package mutating func forget(_ id: Int64) { pending[id] = nil }

    package var nextDeadline: Instant? { pending.values.map(\.deadline).min() }
}
