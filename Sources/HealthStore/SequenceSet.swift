import HealthModel

/// A set of sequences, as a bitmap in chunks. Ten million adjacent sequences take 1.3 MB.
struct SequenceSet {
    // A chunk is 4,096 sequences in 64 words; chunks are stored in one array in order of first use.
    private var words: ContiguousArray<UInt64> = []
    private var chunks: [Int64: Int] = [:]
    // The latest chunk is remembered because imports add one neighboring sequence after another.
    private var recentChunk: Int64 = .min
    private var recentWord = 0
    /// The chunks that have grown since they were last requested, and whether the most recently used chunk is among
    /// them.
    private var grown: Set<Int64> = []
    private var isRecentGrown = false

    mutating func insert(_ number: SequenceNumber) {
        let sequence = number.value
        let chunk = sequence >> 12
        if chunk != recentChunk {
            if let known = chunks[chunk] {
                recentWord = known
            } else {
                recentWord = words.count
                chunks[chunk] = recentWord
                words.append(contentsOf: repeatElement(0, count: 64))
            }
            recentChunk = chunk
            isRecentGrown = false
        }
        if !isRecentGrown {
            grown.insert(chunk)
            isRecentGrown = true
        }
        words[recentWord + Int(sequence >> 6 & 63)] |= 1 << UInt64(sequence & 63)
    }

    mutating func contains(_ number: SequenceNumber) -> Bool {
        let sequence = number.value
        let chunk = sequence >> 12
        if chunk != recentChunk {
            guard let known = chunks[chunk] else { return false }
            recentChunk = chunk
            recentWord = known
            isRecentGrown = false
        }
        return words[recentWord + Int(sequence >> 6 & 63)] & 1 << UInt64(sequence & 63) != 0
    }

    /// Chunks that have grown since the last call.
    mutating func takeGrown() -> Set<Int64> {
        defer {
            grown.removeAll(keepingCapacity: true)
            isRecentGrown = false
        }
        return grown
    }

    /// Adds a chunk's content to the bits.
    func add(chunk: Int64, to bits: inout [UInt64]) {
        guard let first = chunks[chunk] else { return }
        for word in 0..<64 { bits[word] |= words[first + word] }
    }
}
