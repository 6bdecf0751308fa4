/// What an app gets that renews its tokens: an access token, which it presents for an hour, and a refresh token, which
/// it exchanges for the next pair.
package struct TokenPair: Sendable {
    package let access: TokenSecret
    package let refresh: TokenSecret

    /// The first pair of a phone.
    package static func make(using generator: inout some RandomNumberGenerator) -> TokenPair {
        TokenPair(access: .make(using: &generator), refresh: .make(using: &generator))
    }

    private init(access: TokenSecret, refresh: TokenSecret) { (self.access, self.refresh) = (access, refresh) }

    /// The pair for which a refresh token is exchanged.
    ///
    /// It follows from the token and the salt, so if the answer is lost, the app gets the same pair again, even from a
    /// process that has been restarted, and nothing secret has to be stored. Only the file has the salt, and only the
    /// phone the token: neither of them is enough. The next exchange replaces the salt, so an old token that somebody
    /// has copied doesn't lead to the pairs after it.
    init(exchanging token: TokenSecret, salt: String) {
        func derived(_ name: String) -> TokenSecret {
            TokenSecret(bytes: BodySignature(of: Array("\(name) \(salt)".utf8), key: token.text).bytes)
        }
        self.init(access: derived("access"), refresh: derived("refresh").inFamily(of: token))
    }
}

extension TokenSecret {
    /// `hbt_` and 22 characters, 132 bits: all refresh tokens of a phone begin with them. The 126 bits that follow are
    /// different in each.
    private static let familyLength = 26

    /// The hash of what all refresh tokens of the phone begin with.
    var familyMark: SecretDigest { SecretDigest(of: String(text.prefix(Self.familyLength))) }

    fileprivate func inFamily(of other: TokenSecret) -> TokenSecret {
        TokenSecret(made: String(other.text.prefix(Self.familyLength) + text.dropFirst(Self.familyLength)))
    }
}
