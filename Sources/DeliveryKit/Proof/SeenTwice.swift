/// Finds numbers that occur more than once in a long stream, using memory that doesn't grow with the stream: a Bloom
/// filter (Bloom 1970) of 16 MiB.
///
/// It may mistake a new number for an earlier one (at ten million numbers, one time in a hundred), but never the
/// reverse. To be certain, read the stream again and examine only `candidates`.
package struct SeenTwice {
    package private(set) var candidates: Set<Int64> = []
    /// Whether there were more candidates than can be examined.
    package private(set) var isFull = false

    private var bits: [UInt64]
    private let mask: UInt64
    private static let capacity = 500_000

    /// - Parameter bitsLog2: the logarithm of the filter's size in bits.
    package init(bitsLog2: Int = 27) {
        bits = Array(repeating: 0, count: 1 << max(0, bitsLog2 - 6))
        mask = UInt64(1) << UInt64(bitsLog2) - 1
    }

    package mutating func add(_ number: Int64) {
        let first = ElementFold.mixed(UInt64(bitPattern: number))
        let second = ElementFold.mixed(first) | 1
        var isKnown = true
        for step in 0..<3 as Range<UInt64> {
            let bit = (first &+ step &* second) & mask
            let word = Int(bit >> 6)
            let flag = UInt64(1) << (bit & 63)
            if bits[word] & flag == 0 {
                isKnown = false
                bits[word] |= flag
            }
        }
        guard isKnown else { return }
        if candidates.count < Self.capacity { candidates.insert(number) } else { isFull = true }
    }
}
