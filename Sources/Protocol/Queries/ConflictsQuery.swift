import HealthModel

/// An uploader: elements that its destination has with other content under the same version.
package struct ConflictsQuery: Query {
    package typealias Answer = ConflictsPage
    package static let name = "conflicts"

    @IfReadable package var `continue`: Int64?
}

extension Query where Self == ConflictsQuery {
    package static func conflicts(after: Int64? = nil) -> Self { Self(continue: after) }
}

/// An element that a destination has under the same version, but with content other than what was sent to it. The
/// destination keeps its own content. Its content isn't kept here.
package struct DeliveryConflict: Codable, Sendable, Equatable {
    /// Rises with each such element.
    package var number: Int64
    package var user: String
    /// The metric family that its path belongs to.
    package var metric: String
    package var id: String
    /// The sequence of its change.
    package var version: Int64
    package var firstSeen: Instant
    package var lastSeen: Instant
    /// How often it has been sent and found different.
    package var seen: Int64

    package init(
        number: Int64, user: String, metric: String, id: String, version: Int64, firstSeen: Instant, lastSeen: Instant,
        seen: Int64
    ) {
        (self.number, self.user, self.metric, self.id, self.version) = (number, user, metric, id, version)
        (self.firstSeen, self.lastSeen, self.seen) = (firstSeen, lastSeen, seen)
    }
}

/// Such elements, oldest first.
package struct ConflictsPage: PageContent, Equatable {
    package var conflicts: [DeliveryConflict]
    /// Set on the last part if there is more: pass it in the next request.
    package var `continue`: Int64?

    package init(conflicts: [DeliveryConflict], continue number: Int64? = nil) {
        self.conflicts = conflicts
        `continue` = number
    }
}
