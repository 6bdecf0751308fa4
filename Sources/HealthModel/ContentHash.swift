import CXXHash

/// XXH3-128 of content that arrives piece by piece, to check that all of it arrived as it was sent. It doesn't protect
/// against forgery.
package final class ContentHash {
    private let state: UnsafeMutableRawPointer

    package init() {
        guard let state = healthbus_hash_begin() else { fatalError("out of memory") }
        self.state = state
    }

    deinit { healthbus_hash_end(state) }

    package func add(_ bytes: UnsafeRawBufferPointer) {
        if let first = bytes.baseAddress { healthbus_hash_add(state, first, bytes.count) }
    }

    package func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    /// The hash of everything added so far, as two numbers.
    package var words: (high: UInt64, low: UInt64) {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        healthbus_hash_value(state, &words.high, &words.low)
        return words
    }

    /// The hash of everything added so far: 16 bytes, most significant first.
    package var value: [UInt8] {
        let (high, low) = words
        return [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }
}
