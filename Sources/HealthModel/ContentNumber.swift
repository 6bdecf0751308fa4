import CXXHash

/// A number that is the same for equal content, whoever computes it: a backend from what it keeps, or `healthbus
/// verify` from what is stored here.
///
/// Never negative. It distinguishes content that differs by chance or mistake, but doesn't protect against forgery.
package enum ContentNumber {
    /// The number of a sample, from its type, start, end, value and source.
    /// - Parameters:
    ///   - type, source: the numbers of those strings, from `text`.
    ///   - value: NaN or nil if there is none.
    package static func sample(type: UInt64, start: Instant, end: Instant, value: Double?, source: UInt64) -> Int64 {
        var hash: UInt64 = 0
        for word in [type, UInt64(bitPattern: start.microseconds), UInt64(bitPattern: end.microseconds), source] {
            hash = mixed(hash ^ word)
        }
        // Floating-point zero has two forms, and a database keeps only one of them.
        let bits = value.flatMap { $0.isFinite ? $0 == 0 ? 0 : $0.bitPattern : nil }
        return Int64(mixed(hash ^ (bits ?? .max)) >> 1)
    }

    /// The number of a document, which doesn't depend on the order and spacing of its JSON.
    /// - Throws: if it isn't JSON.
    package static func document(json: some Sequence<UInt8>) throws -> Int64 {
        Int64(text(try Value(json: json).json()) >> 1)
    }

    package static func text(_ text: String) -> UInt64 {
        var text = text
        var high: UInt64 = 0
        var low: UInt64 = 0
        text.withUTF8 { healthbus_hash128($0.baseAddress, $0.count, &high, &low) }
        return low
    }

    /// The last steps of SplitMix64.
    private static func mixed(_ word: UInt64) -> UInt64 {
        var word = word &+ 0x9e37_79b9_7f4a_7c15
        word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}
