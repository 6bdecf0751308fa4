import CXXHash

/// XXH3-128 of some bytes. It distinguishes different content, but doesn't protect against forgery.
package struct ContentDigest: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    package init(_ content: ArraySlice<UInt8>) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        content.withUnsafeBytes { healthbus_hash128($0.baseAddress, $0.count, &high, &low) }
        (self.high, self.low) = (high, low)
    }

    /// 16 bytes, most significant first.
    package var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian) { Array($0) } + withUnsafeBytes(of: low.bigEndian) { Array($0) }
    }

    /// 32 hexadecimal digits.
    package var description: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
