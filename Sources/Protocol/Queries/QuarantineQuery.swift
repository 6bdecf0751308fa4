import HealthModel

/// The observer: a user's quarantine, by reason.
package struct QuarantineQuery: Query {
    package typealias Answer = QuarantinePage
    package static let name = "quarantine"

    package var user: String
}

extension Query where Self == QuarantineQuery {
    package static func quarantine(user: String) -> Self { Self(user: user) }
}

/// A user's quarantine entries, by reason.
package struct QuarantinePage: PageContent, Equatable {
    package struct Reason: Codable, Sendable, Equatable {
        package var reason: String
        package var count: Int64

        package init(reason: String, count: Int64) { (self.reason, self.count) = (reason, count) }
    }

    package var reasons: [Reason]

    package init(reasons: [Reason]) { self.reasons = reasons }
}
