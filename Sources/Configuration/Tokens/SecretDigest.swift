import CSodium

/// The SHA-256 of a secret (FIPS 180-4), stored instead of the secret, so that whoever reads the file can't use it.
///
/// It uses no salt and no rounds, which protect passwords chosen by people: these secrets are 256 random bits, which
/// nobody can guess.
package struct SecretDigest: Sendable, Equatable, CustomStringConvertible {
    private let bytes: [UInt8]

    package init(of text: String) {
        let text = Array(text.utf8)
        var bytes = [UInt8](repeating: 0, count: Self.count)
        // This function is documented to always return 0.
        _ = crypto_hash_sha256(&bytes, text, UInt64(text.count))
        self.bytes = bytes
    }

    private static let count = Int(crypto_hash_sha256_BYTES)

    /// Reads 64 hexadecimal digits in lower case; nil for anything else.
    package init?(hexadecimal text: String) {
        guard let bytes = Self.bytes(hexadecimal: text) else { return nil }
        self.bytes = bytes
    }

    static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 2 * count else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digit(digits[index]), let low = digit(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Compares two digests in time that doesn't depend on where they differ.
    package static func == (a: Self, b: Self) -> Bool { sodium_memcmp(a.bytes, b.bytes, count) == 0 }

    /// 64 hexadecimal digits.
    package var description: String { bytes.hexadecimal }
}

extension Sequence<UInt8> {
    /// Two digits for each byte, in lower case.
    package var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
