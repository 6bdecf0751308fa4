import HealthModel

/// What one file or request shows about the names of sources.
struct SessionNames {
    struct Pair: Hashable {
        /// What the store calls the source.
        var stored: String
        /// What the file calls it.
        var given: String
    }

    /// A record that agrees with a row in everything but the name of its source. Whether it is that row's sample is
    /// decided when the batch's other records have claimed their rows.
    struct Waiting {
        /// The record's row in the batch.
        var row: Int
        var slot: Int
        var isChild: Bool
        var pair: Pair
    }

    var waiting: [Waiting] = []
    /// The rows claimed by records that call their source by another name than the store does, by the sequences under
    /// which they were first stored.
    private(set) var renamed: [Pair: SequenceSet] = [:]
    private(set) var counts: [Pair: Int] = [:]
    /// How many records have called a source by another name.
    private(set) var total = 0
    /// Names by which new samples of renamed sources are identified, before the store knows of the renaming.
    var keys: [String: String] = [:]
    /// All names of sources in the file so far.
    var seen: Set<String> = []
    /// Pairs that a request has already shown to be one source.
    var linked: Set<Pair> = []
    /// The names that are already recorded.
    var mentioned: Set<String> = []

    mutating func note(_ row: StoredRow, _ pair: Pair) {
        renamed[pair, default: SequenceSet()].insert(row.born)
        counts[pair, default: 0] += 1
        total += 1
    }

    /// What the file calls the source of a row; nil if it doesn't call it by another name.
    mutating func given(_ row: StoredRow) -> String? {
        for pair in counts.keys where renamed[pair]?.contains(row.born) == true { return pair.given }
        return nil
    }
}
