import HealthModel

/// A token as stored: everything but the secret.
package struct TokenEntry: Sendable, Equatable {
    /// A short random id, by which people refer to the token. Not secret.
    package var id: String
    package var digest: SecretDigest
    /// The person whose data this token is for.
    package var user: String
    /// Its holder's name, such as "phone".
    package var device: String
    package var scope: TokenScope
    package var created: Instant
    /// When it expires; nil if it never does.
    package var ends: Instant?
    /// When it was revoked; nil if it wasn't.
    package var revoked: Instant?
    /// The secret itself, of a phone that signs its requests: a signature can't be checked with a hash. Nil for all
    /// others, which present the secret.
    package var key: String?
    /// Whether the hash is that of an invitation's code, which no app has redeemed yet.
    package var isInvitation = false
    /// The tokens of a phone whose app renews them; nil for a token that stays the same.
    package var family: TokenFamily?

    package enum State: String, Sendable { case valid, ended, revoked }

    /// "Revoked" takes precedence over "expired", since that is what the person who revoked it wants to see.
    package func state(at now: Instant) -> State {
        if revoked != nil { return .revoked }
        return ends.map { $0 <= now } == true ? .ended : .valid
    }

    package var grant: TokenGrant { TokenGrant(id: id, user: user, device: device, scopes: scope.scopes) }

    func answer(at now: Instant) -> TokenAnswer {
        switch state(at: now) {
        // An access token that has ended is renewed by the app.
        case .valid: family.map { $0.accessEnds <= now } == true ? .ended : .granted(grant)
        case .ended: .ended
        case .revoked: .revoked
        }
    }
}

extension TokenEntry {
    /// The entry as stored in the file. Times are ISO 8601, since people read it too.
    init?(_ value: Value) {
        guard let id = value["id"].string, !id.isEmpty,
            let digest = value["sha256"].string.flatMap({ SecretDigest(hexadecimal: $0) }),
            let user = value["user"].string, let device = value["device"].string,
            let scope = value["scope"].string.flatMap({ TokenScope(rawValue: $0) }),
            let created = value["created"].string.flatMap({ InstantText.parse($0) })
        else { return nil }
        self.init(id: id, digest: digest, user: user, device: device, scope: scope, created: created)
        // An unreadable time mustn't become "never".
        for (key, path) in [("ends", \Self.ends), ("revoked", \Self.revoked)] where !value[key].isNull {
            guard let instant = value[key].string.flatMap({ InstantText.parse($0) }) else { return nil }
            self[keyPath: path] = instant
        }
        guard value["secret"].isNull || value["secret"].string != nil else { return nil }
        key = value["secret"].string
        guard value["invitation"].isNull || value["invitation"].bool != nil else { return nil }
        isInvitation = value["invitation"].bool ?? false
        guard !value["family"].isNull else { return }
        guard let family = TokenFamily(value["family"]) else { return nil }
        self.family = family
    }

    var value: Value {
        var members: [String: Value] = [
            "id": .string(id), "sha256": .string("\(digest)"), "user": .string(user), "device": .string(device),
            "scope": .string(scope.rawValue), "created": .string(InstantText.iso8601(created)),
            "ends": Value(ends.map { InstantText.iso8601($0) }),
            "revoked": Value(revoked.map { InstantText.iso8601($0) }),
        ]
        if let key { members["secret"] = .string(key) }
        if isInvitation { members["invitation"] = true }
        if let family { members["family"] = family.value }
        return .object(members)
    }
}
