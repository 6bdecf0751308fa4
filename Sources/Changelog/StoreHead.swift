import HealthModel

/// Where a store stands: which store, which of its generations, and its newest sequence.
public struct StoreHead: Sendable, Equatable {
    /// Made with the store, never changes.
    public var store: String
    /// A random nonce, new whenever the store is created or found to have lost what others have seen.
    public var generation: String
    public var sequence: Int64
    /// The store's first sequence: nothing lies below it. Sequences begin at a time, not at 1, so a distance from 0 says nothing.
    public var first: Int64

    public init(store: String, generation: String, sequence: Int64, first: Int64 = 1) {
        self.store = store
        self.generation = generation
        self.sequence = sequence
        self.first = first
    }

    /// How many sequences a consumer that has come so far lacks.
    public func distance(from frontier: Int64) -> Int64 { max(0, sequence - max(frontier, first - 1)) }

    public var wireValue: Value {
        [
            "store": .string(store), "generation": .string(generation), "sequence": .integer(sequence),
            "first": .integer(first),
        ]
    }

    public init?(wireValue value: Value) {
        guard let store = value["store"].string, let generation = value["generation"].string,
            let sequence = value["sequence"].int, sequence >= 0, value["first"].int ?? 1 >= 0
        else { return nil }
        self.init(store: store, generation: generation, sequence: sequence, first: value["first"].int ?? 1)
    }
}
