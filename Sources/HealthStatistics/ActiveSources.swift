/// The sources that have a sample at the sweep's current instant, and which of them comes first.
struct ActiveSources {
    private var counts: [Int32]
    /// One bit per source, so that the first active source is found by checking 64 at a time.
    private var words: [UInt64]

    init(count: Int) {
        counts = Array(repeating: 0, count: count)
        words = Array(repeating: 0, count: (count + 63) / 64)
    }

    func count(of source: Int) -> Int { Int(counts[source]) }

    mutating func begin(_ source: Int) {
        counts[source] += 1
        words[source >> 6] |= 1 << UInt64(source & 63)
    }

    mutating func end(_ source: Int) {
        counts[source] -= 1
        if counts[source] == 0 { words[source >> 6] &= ~(1 << UInt64(source & 63)) }
    }

    var first: Int? {
        for (index, word) in words.enumerated() where word != 0 { return index << 6 + word.trailingZeroBitCount }
        return nil
    }

    /// All active sources, highest priority first.
    var all: [Int] { counts.indices.filter { counts[$0] > 0 } }
}
