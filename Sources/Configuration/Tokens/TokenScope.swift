/// What a token lets its holder do.
package enum TokenScope: String, Sendable, CaseIterable {
    /// Send data, as a phone does. Its holder can't read any.
    case ingest
    /// Read data. Its holder can't send any.
    case read
    /// Both sending and reading, and anything else.
    case admin

    /// This scope, and the scopes that it includes.
    package var scopes: Set<TokenScope> { self == .admin ? Set(Self.allCases) : [self] }
}

/// The user on whose behalf the holder of a token acts, and what the token allows.
package struct TokenGrant: Sendable, Equatable {
    /// The token's id, which isn't secret and may appear in logs.
    package var id: String
    package var user: String
    package var device: String
    package var scopes: Set<TokenScope>

    package init(id: String, user: String, device: String, scopes: Set<TokenScope>) {
        (self.id, self.user, self.device, self.scopes) = (id, user, device, scopes)
    }

    package func allows(_ scope: TokenScope) -> Bool { scopes.contains(scope) }
}

/// The verdict on a presented secret.
package enum TokenAnswer: Sendable, Equatable {
    case granted(TokenGrant)
    /// Not a token, or not one that was ever made by this stack.
    case unknown
    /// A revoked one.
    case revoked
    /// An expired one.
    case ended
}
