import HealthModel

/// A token as it is kept: everything but the secret.
package struct TokenEntry: Sendable, Equatable {
    /// Short and random: what people name it by. No secret.
    package var id: String
    package var digest: SecretDigest
    /// Whose data come with it.
    package var user: String
    /// What its holder is called, as "phone".
    package var device: String
    package var scope: TokenScope
    package var created: Instant
    /// From when it no longer holds; nil: never.
    package var ends: Instant?
    /// When it was taken back; nil: it wasn't.
    package var revoked: Instant?

    package init(
        id: String, digest: SecretDigest, user: String, device: String, scope: TokenScope, created: Instant,
        ends: Instant? = nil, revoked: Instant? = nil
    ) {
        self.id = id
        self.digest = digest
        self.user = user
        self.device = device
        self.scope = scope
        self.created = created
        self.ends = ends
        self.revoked = revoked
    }

    package enum State: String, Sendable { case valid, ended, revoked }

    /// Whoever takes a token back is to see that, also once its time is over.
    package func state(at now: Instant) -> State {
        if revoked != nil { return .revoked }
        return ends.map { $0 <= now } == true ? .ended : .valid
    }

    package var grant: TokenGrant { TokenGrant(id: id, user: user, device: device, scopes: scope.scopes) }

    /// As the file has it. The times are ISO 8601, for people look into it too.
    init?(_ value: Value) {
        guard let id = value["id"].string, !id.isEmpty,
            let digest = value["sha256"].string.flatMap({ SecretDigest(hexadecimal: $0) }),
            let user = value["user"].string, let device = value["device"].string,
            let scope = value["scope"].string.flatMap({ TokenScope(rawValue: $0) }),
            let created = value["created"].string.flatMap({ InstantText.parse($0) })
        else { return nil }
        self.init(id: id, digest: digest, user: user, device: device, scope: scope, created: created)
        // A time that can't be read mustn't become "never".
        for (key, path) in [("ends", \Self.ends), ("revoked", \Self.revoked)] where !value[key].isNull {
            guard let instant = value[key].string.flatMap({ InstantText.parse($0) }) else { return nil }
            self[keyPath: path] = instant
        }
    }

    var value: Value {
        [
            "id": .string(id), "sha256": .string("\(digest)"), "user": .string(user), "device": .string(device),
            "scope": .string(scope.rawValue), "created": .string(InstantText.iso8601(created)),
            "ends": Value(ends.map { InstantText.iso8601($0) }),
            "revoked": Value(revoked.map { InstantText.iso8601($0) }),
        ]
    }
}
