import HealthModel

/// A destination: its last comparison with what it delivered, a person at a time.
package struct ProofQuery: Query {
    package typealias Answer = ProofPage
    package static let name = "proof"

    @IfReadable package var `continue`: Int64?
}

extension Query where Self == ProofQuery {
    package static func proof(after: Int64? = nil) -> Self { Self(continue: after) }
}

/// What a destination's last comparison found, by person: `user`, and `lists` as `healthbus verify --json` has them.
package struct ProofPage: PageContent, Equatable {
    package var users: [Value]
    /// Set if there are more: pass it in the next request.
    package var `continue`: Int64?

    package init(users: [Value], continue number: Int64? = nil) {
        self.users = users
        `continue` = number
    }
}
