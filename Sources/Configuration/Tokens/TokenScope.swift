/// What a token lets its holder do.
package enum TokenScope: String, Sendable, CaseIterable {
    /// Send data, as a phone does. It can't read any.
    case ingest
    /// Read data. It can't send any.
    case read
    /// Both, and anything else.
    case admin

    /// This scope, and the scopes that it includes.
    package var scopes: Set<TokenScope> { self == .admin ? Set(Self.allCases) : [self] }
}

/// The user whom a token stands for, and what it allows.
package struct TokenGrant: Sendable, Equatable {
    /// The token's id, which isn't secret: for logs.
    package var id: String
    package var user: String
    package var device: String
    package var scopes: Set<TokenScope>

    package init(id: String, user: String, device: String, scopes: Set<TokenScope>) {
        self.id = id
        self.user = user
        self.device = device
        self.scopes = scopes
    }

    package func allows(_ scope: TokenScope) -> Bool { scopes.contains(scope) }
}

/// The verdict on a presented secret.
package enum TokenAnswer: Sendable, Equatable {
    case granted(TokenGrant)
    /// Not a token, or not one that was ever made here.
    case unknown
    /// A revoked one.
    case revoked
    /// An expired one.
    case ended
}
