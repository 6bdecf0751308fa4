import CSodium

/// The HMAC-SHA256 (RFC 2104) of a request's body, with a secret that only the sender and this stack know.
package struct BodySignature: Sendable, Equatable {
    let bytes: [UInt8]

    package init(of body: [UInt8], key: String) {
        var state = crypto_auth_hmacsha256_state()
        var bytes = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_BYTES))
        let key = Array(key.utf8)
        // These functions are documented to always return 0.
        _ = crypto_auth_hmacsha256_init(&state, key, key.count)
        _ = crypto_auth_hmacsha256_update(&state, body, UInt64(body.count))
        _ = crypto_auth_hmacsha256_final(&state, &bytes)
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits in lower or upper case; nil for anything else.
    package init?(hexadecimal text: some StringProtocol) {
        guard let digest = SecretDigest.bytes(hexadecimal: text.lowercased()) else { return nil }
        bytes = digest
    }

    /// Compares in time that doesn't depend on where they differ.
    package static func == (a: Self, b: Self) -> Bool { sodium_memcmp(a.bytes, b.bytes, a.bytes.count) == 0 }

    package var hexadecimal: String { bytes.hexadecimal }
}
