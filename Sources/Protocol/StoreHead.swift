/// Where a store stands: which store, which of its generations, and its newest sequence.
package struct StoreHead: Codable, Sendable, Equatable {
    /// Made with the store, never changes.
    package var store: String
    /// A random nonce, new whenever the store is created or found to have lost what others have seen.
    package var generation: String
    package var sequence: Int64
    /// The store's first sequence: nothing lies below it. Sequences begin at a time, not at 1, so a distance from 0 says nothing.
    package var first: Int64

    package init(store: String, generation: String, sequence: Int64, first: Int64 = 1) {
        self.store = store
        self.generation = generation
        self.sequence = sequence
        self.first = first
    }

    /// How many sequences a consumer that has come so far lacks.
    package func distance(from frontier: Int64) -> Int64 { max(0, sequence - max(frontier, first - 1)) }

    private enum CodingKeys: CodingKey { case store, generation, sequence, first }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        store = try members.decode(String.self, forKey: .store)
        generation = try members.decode(String.self, forKey: .generation)
        sequence = try members.decode(Int64.self, forKey: .sequence)
        first = try members.decodeIfPresent(Int64.self, forKey: .first) ?? 1
        guard sequence >= 0, first >= 0 else {
            throw DecodingError.dataCorruptedError(
                forKey: .sequence, in: members, debugDescription: "no store counts below 0")
        }
    }
}
