import HealthModel

/// A store's position: which store, which of its generations, and its latest sequence.
package struct StoreHead: Codable, Sendable, Equatable {
    /// Created with the store; never changes.
    package var store: String
    /// A random nonce, renewed whenever the store is created or found to have lost rows that others have seen.
    package var generation: String
    package var sequence: SequenceNumber
    /// The store's first sequence: there is nothing below it. In stores from earlier releases it is a time, so the
    /// distance from 0 means nothing.
    package var first: SequenceNumber
    /// Nil unless the generation continues an earlier one.
    package var gap: Gap?
    /// A random nonce of the process that wrote the newest rows: a store that doesn't know it, or knows that it never
    /// got as far, has lost rows, even if it has gone on beyond them since. Nil from earlier releases.
    package var incarnation: String?

    /// The sequences that no row has because a new generation begins far beyond the one before.
    package struct Gap: Codable, Sendable, Equatable {
        /// The last sequence of the generation before.
        package var after: SequenceNumber
        /// The new generation's first sequence: its rows come after it.
        package var first: SequenceNumber

        package init(after: SequenceNumber, first: SequenceNumber) { (self.after, self.first) = (after, first) }
    }

    package init(
        store: String, generation: String, sequence: SequenceNumber, first: SequenceNumber = .beginning.next,
        gap: Gap? = nil, incarnation: String? = nil
    ) {
        (self.store, self.generation, self.sequence, self.first) = (store, generation, sequence, first)
        (self.gap, self.incarnation) = (gap, incarnation)
    }

    /// How many sequences a consumer at this position still lacks.
    package func distance(from frontier: SequenceNumber) -> Int64 {
        let reached = max(frontier, first.previous)
        guard let gap, reached < gap.first else { return max(0, sequence - reached) }
        return max(0, sequence - gap.first) + max(0, gap.after - reached)
    }

    private enum CodingKeys: CodingKey { case store, generation, sequence, first, gap, incarnation }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        store = try members.decode(String.self, forKey: .store)
        generation = try members.decode(String.self, forKey: .generation)
        sequence = try members.decode(SequenceNumber.self, forKey: .sequence)
        first = try members.decodeIfPresent(SequenceNumber.self, forKey: .first) ?? .beginning.next
        gap = try members.decodeIfPresent(Gap.self, forKey: .gap)
        incarnation = try members.decodeIfPresent(String.self, forKey: .incarnation)
        let isGapPossible = gap.map { $0.after >= .beginning && $0.first > $0.after } ?? true
        guard sequence >= .beginning, first >= .beginning, isGapPossible else {
            throw DecodingError.dataCorruptedError(
                forKey: .sequence, in: members, debugDescription: "no store has negative sequences")
        }
    }
}
