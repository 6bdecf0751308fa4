import HealthModel

/// The tokens of one phone whose app renews them, as stored beside the hash of its access token.
package struct TokenFamily: Sendable, Equatable {
    /// The hash of what all its refresh tokens begin with. It recognizes a refresh token that was exchanged long ago:
    /// nobody else can know its beginning.
    var mark: SecretDigest
    /// The hash of the current refresh token.
    var refresh: SecretDigest
    /// When the access token ends.
    var accessEnds: Instant
    /// The latest exchange; nil before the first.
    var exchange: Exchange?

    /// What is needed to answer the same exchange again.
    struct Exchange: Sendable, Equatable {
        /// The hash of the refresh token that was exchanged.
        var refresh: SecretDigest
        /// See `TokenPair`. Not secret.
        var salt: String
        var at: Instant
    }

    /// How long an access token is valid, as in the app's own backend.
    package static let accessLife = Duration.seconds(3600)
    /// How long an exchange is answered again. After that, whoever presents the old token may have copied it.
    static let patience = Duration.seconds(60)
    /// How long the code of an invitation is valid.
    static let invitationLife = Duration.seconds(7 * 86_400)

    init(_ pair: TokenPair, now: Instant, exchange: Exchange? = nil) {
        (mark, refresh) = (pair.refresh.familyMark, pair.refresh.digest)
        accessEnds = Instant(seconds: now.flooredSecond) + Self.accessLife
        self.exchange = exchange
    }
}

extension TokenFamily {
    /// As stored in the file; nil for anything else.
    init?(_ value: Value) {
        guard let mark = Self.digest(value["mark"]), let refresh = Self.digest(value["refresh"]),
            let accessEnds = Self.time(value["accessEnds"])
        else { return nil }
        (self.mark, self.refresh, self.accessEnds) = (mark, refresh, accessEnds)
        guard !value["exchange"].isNull else { return }
        guard let old = Self.digest(value["exchange"]["refresh"]), let salt = value["exchange"]["salt"].string,
            let at = Self.time(value["exchange"]["at"])
        else { return nil }
        exchange = Exchange(refresh: old, salt: salt, at: at)
    }

    private static func digest(_ value: Value) -> SecretDigest? {
        value.string.flatMap { SecretDigest(hexadecimal: $0) }
    }

    private static func time(_ value: Value) -> Instant? { value.string.flatMap { InstantText.parse($0) } }

    var value: Value {
        var members: [String: Value] = [
            "mark": .string("\(mark)"), "refresh": .string("\(refresh)"),
            "accessEnds": .string(InstantText.iso8601(accessEnds)),
        ]
        if let exchange {
            members["exchange"] = [
                "refresh": .string("\(exchange.refresh)"), "salt": .string(exchange.salt),
                "at": .string(InstantText.iso8601(exchange.at)),
            ]
        }
        return .object(members)
    }
}
