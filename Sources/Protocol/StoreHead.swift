import HealthModel

/// A store's position: which store, which of its generations, and its latest sequence.
package struct StoreHead: Codable, Sendable, Equatable {
    /// Created with the store; never changes.
    package var store: String
    /// A random nonce, renewed whenever the store is created or found to have lost rows that others have seen.
    package var generation: String
    package var sequence: SequenceNumber
    /// The store's first sequence: there is nothing below it. Sequence numbers start from a time, not from 1, so the
    /// distance from 0 means nothing.
    package var first: SequenceNumber

    package init(store: String, generation: String, sequence: SequenceNumber, first: SequenceNumber = .beginning.next) {
        self.store = store
        self.generation = generation
        self.sequence = sequence
        self.first = first
    }

    /// How many sequences a consumer at this position still lacks.
    package func distance(from frontier: SequenceNumber) -> Int64 { max(0, sequence - max(frontier, first.previous)) }

    private enum CodingKeys: CodingKey { case store, generation, sequence, first }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        store = try members.decode(String.self, forKey: .store)
        generation = try members.decode(String.self, forKey: .generation)
        sequence = try members.decode(SequenceNumber.self, forKey: .sequence)
        first = try members.decodeIfPresent(SequenceNumber.self, forKey: .first) ?? .beginning.next
        guard sequence >= .beginning, first >= .beginning else {
            throw DecodingError.dataCorruptedError(
                forKey: .sequence, in: members, debugDescription: "no store has negative sequences")
        }
    }
}
