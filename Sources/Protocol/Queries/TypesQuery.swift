import HealthModel

/// The observer: what it has, by user and type.
package struct TypesQuery: Query {
    package typealias Answer = TypesPage
    package static let name = "types"
}

extension Query where Self == TypesQuery { package static var types: Self { Self() } }

/// What the observer has, by user and type.
package struct TypesPage: PageContent, Equatable {
    package var types: [TypeRow]
    package var quarantined: Int64?

    package init(types: [TypeRow], quarantined: Int64) { (self.types, self.quarantined) = (types, quarantined) }
}

/// What the observer has of a user's samples of one type.
package struct TypeRow: Codable, Sendable, Equatable {
    package var user: String
    package var type: String
    /// The sequence of its latest change.
    package var sequence: SequenceNumber
    package var alive: Int
    package var deleted: Int
    package var quarantined: Int
    @OrNull package var firstStart: Instant?
    @OrNull package var lastStart: Instant?
    @OrNull package var lastEnd: Instant?

    package init(
        user: String, type: String, sequence: SequenceNumber, alive: Int, deleted: Int, quarantined: Int,
        firstStart: Instant?,
        lastStart: Instant?, lastEnd: Instant?
    ) {
        (self.user, self.type, self.sequence, self.alive, self.deleted) = (user, type, sequence, alive, deleted)
        (self.quarantined, self.firstStart, self.lastStart) = (quarantined, firstStart, lastStart)
        self.lastEnd = lastEnd
    }
}
