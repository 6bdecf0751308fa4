/// What a token lets its holder do.
package enum TokenScope: String, Sendable, CaseIterable {
    /// Hand in data, as a phone does. It can't read any.
    case ingest
    /// Read data. It can't hand in any.
    case read
    /// Both, and what else there is.
    case admin

    /// Itself, and what it includes.
    package var scopes: Set<TokenScope> { self == .admin ? Set(Self.allCases) : [self] }
}

/// Whom a token stands for, and what it lets him do.
package struct TokenGrant: Sendable, Equatable {
    /// The token's id: no secret, for logs.
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

/// What is said of a secret that somebody presents.
package enum TokenAnswer: Sendable, Equatable {
    case granted(TokenGrant)
    /// No token, or none that was ever made here.
    case unknown
    /// One that was taken back.
    case revoked
    /// One whose time is over.
    case ended
}
