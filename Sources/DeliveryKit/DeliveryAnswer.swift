import HealthModel

/// What a destination said about the outcome of elements.
package struct DeliveryAnswer: Sendable, Equatable {
    /// Each count is 0 or more; missing ones are 0.
    package struct Counts: Sendable, Equatable {
        package var created: Int64 = 0
        package var updated: Int64 = 0
        package var known: Int64 = 0
        package var refused: Int64 = 0

        package init(created: Int64 = 0, updated: Int64 = 0, known: Int64 = 0, refused: Int64 = 0) {
            (self.created, self.updated, self.known, self.refused) = (created, updated, known, refused)
        }

        /// Whether the counts account for exactly this many elements. The counts come from another program, so their
        /// sum mustn't be allowed to overflow.
        package func accounts(for elements: Int) -> Bool {
            let all = [created, updated, known, refused]
            guard all.allSatisfy({ (0...Int64(elements)).contains($0) }) else { return false }
            return all.reduce(0, &+) == Int64(elements)
        }
    }

    package struct Refusal: Sendable, Equatable {
        /// nil when the element had no id.
        package var id: String?
        /// The list in the request's body that contains the element.
        package var list: String?
        /// The element's position in its list, from 0.
        package var index: Int?
        package var reason: String

        package init(id: String?, list: String? = nil, index: Int?, reason: String) {
            (self.id, self.list, self.index, self.reason) = (id, list, index, reason)
        }
    }

    /// nil when the destination gave none.
    package var counts: Counts?
    package var refused: [Refusal]
    /// Ids of elements that the destination already has with the same version but different content.
    package var conflicts: [String]
    /// The nonce of the destination's database: a different one means that the database was recreated or restored. nil
    /// if the destination doesn't say.
    package var generation: String?
    /// How many requests have changed something since the database was created, or at least a number that rises with
    /// each such request.
    package var sequence: Int64?
    /// Whether it asks for whatever else is new.
    package var requestsSync = false
    /// The HTTP status; stored with whatever is refused.
    package var status: Int?
    /// Elements of the group that weren't sent, since newer versions of them had been accepted. They are settled, but
    /// aren't evidence that the destination accepts anything.
    package var overtaken: Set<Int>

    package init(
        counts: Counts? = nil, refused: [Refusal] = [], conflicts: [String] = [], generation: String? = nil,
        sequence: Int64? = nil,
        status: Int? = nil, overtaken: Set<Int> = []
    ) {
        (self.counts, self.refused, self.conflicts, self.generation) = (counts, refused, conflicts, generation)
        (self.sequence, self.status, self.overtaken) = (sequence, status, overtaken)
    }
}

/// The aspects of a request's outcome that affect what happens next. Every destination reports its outcomes like this,
/// whatever protocol it uses.
package enum DeliveryReply: Sendable, Equatable {
    /// Everything sent is accounted for by the known destination, or by one that identifies itself now.
    case proven(DeliveryAnswer)
    /// A destination that never identifies itself has accepted everything. This is trusted, since nothing better is
    /// available.
    case onTrust(DeliveryAnswer)
    /// Nothing was sent, because newer versions of all the elements had been accepted. The request is settled, but
    /// shows nothing about the destination.
    case overtaken(DeliveryAnswer)
    /// The answer accounts for everything, but its generation differs from the known one.
    case otherBackend(String, DeliveryAnswer)
    /// The known destination has forgotten requests that it had answered: an older copy was restored.
    case rolledBack(to: Int64)
    /// The answer names elements that the destination refuses, and proves nothing else; `otherwise` is what the answer
    /// means if none of those elements were sent.
    case refusals(DeliveryAnswer, otherwise: Failure)
    /// The answer contains refusals in an unknown form; the text describes them.
    case unreadableRefusals(String)
    /// The answer may come from any server, so nothing is accepted and nothing is refused; the text gives the reason.
    case unproven(String)
    /// The destination doesn't accept columns, so the same elements are sent in the other form; the text gives the
    /// reason.
    case wrongForm(String)
    /// Nothing in the request is accepted.
    case failed(Failure)
    /// The request can't even be sent until a person does something; the text says what.
    case needsPerson(String)

    package struct Failure: Sendable, Equatable {
        package var outcome: RetryPolicy.Outcome
        /// What happened, human-readable.
        package var why: String
        /// The HTTP status.
        package var status: Int?

        package init(_ outcome: RetryPolicy.Outcome, why: String, status: Int? = nil) {
            (self.outcome, self.why, self.status) = (outcome, why, status)
        }
    }

    /// - Parameters:
    ///   - answer: an answer that accounts for everything sent; it is proven if it has no generation to compare.
    ///   - seen: what was known when the request was sent, since answers come out of order.
    package init(taken answer: DeliveryAnswer, seen: SeenBackend) {
        guard let known = seen.generation, let generation = answer.generation else {
            self = .proven(answer)
            return
        }
        if known != generation {
            self = .otherBackend(generation, answer)
        } else if let before = seen.sequence, let now = answer.sequence, now < before {
            self = .rolledBack(to: now)
        } else {
            self = .proven(answer)
        }
    }
}
