import Foundation

/// A token in the form its holder has: `hbt_` and 32 random bytes in base64url (RFC 4648). It is shown once, when it is
/// made, and never stored.
package struct TokenSecret: Sendable, CustomStringConvertible {
    /// The text that a client sends after "Bearer ".
    package let text: String

    /// The prefix makes it recognizable to people, and to programs that scan published text for secrets.
    private static let prefix = "hbt_"
    private static let randomBytes = 32
    /// The prefix, and 32 bytes in base64 without padding.
    private static let length = prefix.utf8.count + 43

    /// nil for text that can't be a token. The form of a token isn't secret.
    package init?(_ text: String) {
        guard text.utf8.count == Self.length, text.hasPrefix(Self.prefix),
            text.utf8.dropFirst(Self.prefix.utf8.count).allSatisfy(Self.isBase64URL)
        else { return nil }
        self.text = text
    }

    init(made text: String) { self.text = text }

    /// A new one.
    /// - Parameter generator: the system's random generator, except in tests.
    package static func make(using generator: inout some RandomNumberGenerator) -> TokenSecret {
        TokenSecret(bytes: (0..<randomBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// - Parameter bytes: 32 of them.
    init(bytes: [UInt8]) {
        let base64 = Data(bytes).base64EncodedString().map { character -> Character in
            switch character {
            case "+": "-"
            case "/": "_"
            default: character
            }
        }
        self.init(made: Self.prefix + String(base64.filter { $0 != "=" }))
    }

    package var digest: SecretDigest { SecretDigest(of: text) }

    /// Never shows the secret.
    package var description: String { "TokenSecret(…)" }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
