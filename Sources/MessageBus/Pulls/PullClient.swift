import BackgroundDelivery
import HealthModel
import Protocol

/// Keeps a process's pulls until they are answered: collects the parts of an answer, drops stale ones, and repeats the
/// request after a time-out. Pure.
///
/// An answer counts only if it comes from the producer that was asked, even if other processes know the request's id.
package struct PullClient {
    private struct Pending {
        var pull: Pull
        /// The order in which the pulls were made, since ids have no order.
        var number: Int
        var parts: [Value] = []
        /// The state of the store that the parts reflect.
        var head: StoreHead?
        var attempt = 0
        var deadline: MonotonicTime

        var place: String { "\(pull.producer)/\(pull.question.query.name)" }
    }

    private var pending: [Int64: Pending] = [:]
    private var begun = 0
    package let consumer: String
    /// How many parts came from senders other than the producer that was asked.
    package private(set) var foreign = 0
    /// Why requests are refused, by `producer/query`, until one of them is answered.
    package private(set) var refusals: [String: String] = [:]

    /// More parts than any answer has; beyond this, a producer that never sends a last part is ignored.
    private static let partsLimit = 64

    /// 1 s at first, because a producer that restarts is back within a second; later up to 8 s.
    private static func timeout(attempt: Int) -> Duration {
        BackOff(Duration.seconds(1), upTo: .seconds(8), failures: attempt).wait
    }

    package init(consumer: String) { self.consumer = consumer }

    /// The request to send for a new pull.
    package mutating func begin(_ pull: Pull, at now: MonotonicTime) -> (topic: String, body: Value) {
        begun += 1
        pending[pull.id] = Pending(pull: pull, number: begun, deadline: now + Self.timeout(attempt: 0))
        return request(pull, attempt: 0)
    }

    private func request(_ pull: Pull, attempt: Int) -> (topic: String, body: Value) {
        let header = PullHeader(id: pull.id, attempt: Int64(attempt), consumer: consumer)
        let body = pull.question.members.merging(Value(header).object ?? [:]) { $1 }
        return (PullHeader.topic(pull.producer), .object(body))
    }

    /// The complete answer once its last part has arrived; nil for any other part, a repeat, or an answer that no
    /// request is waiting for.
    /// - Parameter sender: who sent it, according to the message's header.
    package mutating func receive(_ part: Value, from sender: String, at now: MonotonicTime) -> PullAnswer? {
        guard let header = part.read(PageHeader.self), var entry = pending[header.id] else { return nil }
        let id = header.id
        let producer = entry.pull.producer
        guard sender == producer, header.producer == producer else {
            foreign += 1
            return nil
        }
        guard header.attempt == Int64(entry.attempt) else { return nil }
        if let error = header.error {
            pending[id] = nil
            if error == PageHeader.reset, let head = header.head {
                return PullAnswer(pull: entry.pull, result: .reset(head))
            }
            if error == DeliveryError.Code.databaseInaccessible.rawValue {
                return PullAnswer(pull: entry.pull, result: .databaseInaccessible)
            }
            let reason = String((header.reason ?? error).prefix(200))
            refusals[entry.place] = reason
            return PullAnswer(pull: entry.pull, result: .refused(reason))
        }
        // A request that reached the producer twice gets two answers. Answers that reflect the same moment (same head)
        // are equal; parts from two moments don't fit together, since a row that moved in between would be in neither.
        if header.part == 0, entry.head != header.head { entry.parts = [] }
        guard entry.parts.isEmpty || entry.head == header.head else { return nil }
        // Parts arrive in order or not at all; a gap means that a part was dropped, and the request is repeated after
        // the time-out.
        guard header.part == Int64(entry.parts.count), entry.parts.count < Self.partsLimit else { return nil }
        entry.head = header.head
        entry.parts.append(part)
        entry.deadline = now + Self.timeout(attempt: entry.attempt)
        guard header.last == true else {
            pending[id] = entry
            return nil
        }
        pending[id] = nil
        refusals[entry.place] = nil
        return PullAnswer(pull: entry.pull, result: .pages(entry.parts))
    }

    /// Requests that are due again, in the order in which they were first sent.
    package mutating func overdue(at now: MonotonicTime) -> [(topic: String, body: Value)] {
        var again: [(topic: String, body: Value)] = []
        for var entry in pending.values.sorted(by: { $0.number < $1.number }) where entry.deadline <= now {
            entry.attempt += 1
            entry.parts = []
            entry.deadline = now + Self.timeout(attempt: entry.attempt)
            pending[entry.pull.id] = entry
            again.append(request(entry.pull, attempt: entry.attempt))
        }
        return again
    }

    /// Stops asking: the answer is no longer needed.
    package mutating func forget(_ id: Int64) { pending[id] = nil }

    /// Whether any answer is still outstanding.
    package var isWaiting: Bool { !pending.isEmpty }
    package var nextDeadline: MonotonicTime? { pending.values.map(\.deadline).min() }
}
