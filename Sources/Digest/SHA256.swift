import CSodium

/// SHA-256 (FIPS 180-4) of bytes that arrive in pieces, for checksums of files as `sha256sum` prints them.
package struct SHA256 {
    private var state = crypto_hash_sha256_state()

    package init() {
        // This and the following calls are documented to always return 0.
        _ = crypto_hash_sha256_init(&state)
    }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
        _ = crypto_hash_sha256_update(&state, start, UInt64(bytes.count))
    }

    /// The digest of everything added, as 64 hexadecimal digits.
    package var hexadecimal: String {
        var rest = state
        var sum = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
        _ = crypto_hash_sha256_final(&rest, &sum)
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: sum.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
