import HealthModel

/// What a destination said became of elements.
package struct DeliveryAnswer: Sendable, Equatable {
    /// Each from 0; what isn't named is 0.
    package struct Counts: Sendable, Equatable {
        package var created: Int64 = 0
        package var updated: Int64 = 0
        package var known: Int64 = 0
        package var refused: Int64 = 0

        package init(created: Int64 = 0, updated: Int64 = 0, known: Int64 = 0, refused: Int64 = 0) {
            (self.created, self.updated, self.known, self.refused) = (created, updated, known, refused)
        }

        /// Whether they account for exactly so many elements. Somebody else's numbers: no sum of them may overflow.
        package func accounts(for elements: Int) -> Bool {
            let all = [created, updated, known, refused]
            guard all.allSatisfy({ (0...Int64(elements)).contains($0) }) else { return false }
            return all.reduce(0, &+) == Int64(elements)
        }
    }

    package struct Refusal: Sendable, Equatable {
        /// nil when the element had none.
        package var id: String?
        /// The list of the request's body that it stands in.
        package var list: String?
        /// Where in its list it stands, from 0.
        package var index: Int?
        package var reason: String

        package init(id: String?, list: String? = nil, index: Int?, reason: String) {
            (self.id, self.list, self.index, self.reason) = (id, list, index, reason)
        }
    }

    /// nil when it named none.
    package var counts: Counts?
    package var refused: [Refusal]
    /// The nonce of its database: another one means that it was made anew or restored. nil where it doesn't say.
    package var generation: String?
    /// How many requests have changed something since the database was made, or rather a number that rises with each of them.
    package var sequence: Int64?
    /// Of HTTP; kept with what is refused.
    package var status: Int?

    package init(
        counts: Counts? = nil, refused: [Refusal] = [], generation: String? = nil, sequence: Int64? = nil,
        status: Int? = nil
    ) {
        self.counts = counts
        self.refused = refused
        self.generation = generation
        self.sequence = sequence
        self.status = status
    }
}

/// What became of a request, as far as it matters for what happens next: each destination says it so, whatever it speaks.
package enum DeliveryReply: Sendable, Equatable {
    /// All that was sent is accounted for by the destination that is known, or that makes itself known now.
    case proven(DeliveryAnswer)
    /// One that never says who it is has taken it: that is believed, since nothing better can be had.
    case onTrust(DeliveryAnswer)
    /// It accounts for all, and has another generation than the one that was known.
    case otherBackend(String, DeliveryAnswer)
    /// The known one has forgotten requests that it had answered: it was put back to an older copy.
    case rolledBack(to: Int64)
    /// It names elements that it refuses, and proves nothing else; what its answer means where it names none of those that were sent.
    case refusals(DeliveryAnswer, otherwise: Failure)
    /// It has refusals that nobody can understand; what happened, for people.
    case unreadableRefusals(String)
    /// It may be anybody's: nothing is accepted, nothing is refused. Why, for people.
    case unproven(String)
    /// Columns aren't taken: the same goes in the other form. Why, for people.
    case wrongForm(String)
    /// Nothing of it is taken.
    case failed(Failure)
    /// It can't even be sent before a person does something: what, for people.
    case needsPerson(String)

    package struct Failure: Sendable, Equatable {
        package var outcome: UploadPolicy.Outcome
        /// What happened, for people.
        package var why: String
        /// Of HTTP.
        package var status: Int?

        package init(_ outcome: UploadPolicy.Outcome, why: String, status: Int? = nil) {
            (self.outcome, self.why, self.status) = (outcome, why, status)
        }
    }

    /// - Parameters:
    ///   - answer: accounts for all that was sent, and says whose it is.
    ///   - seen: what was known when it was sent; answers come out of order.
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
