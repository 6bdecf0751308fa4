import HealthModel

/// The observer: which stretches of time are touched by changes within the window.
package struct SpansQuery: Query {
    package typealias Answer = SpansPage
    package static let name = "spans"

    package var types: TypeChoice
}

extension Query where Self == SpansQuery {
    package static func spans(_ types: TypeChoice) -> Self { Self(types: types) }
}

/// Which stretches of time the changes in a window touch, with everything needed to turn them into days.
package struct SpansPage: PageContent, Equatable {
    package var users: [String]
    /// Columns with one element per span: its owner (index into `users`), and its start and end in microseconds since
    /// 1970.
    @Packed package var user: [Int32]
    @Packed package var start: [Int64]
    @Packed package var end: [Int64]
    /// By user, a timeline in the form that `ZoneTimeline` encodes: for these users, and for those whose timeline
    /// changed in the window.
    @IfReadable package var zones: [String: Value]?
    /// Likewise by user: what is known about that person.
    @IfReadable package var characteristics: [String: Value]?
    /// How many changes to samples the spans cover.
    package var added: Int?
    package var deleted: Int?
    package var from: SequenceNumber
    package var through: SequenceNumber
    package var bulk: Bool?

    package init(
        users: [String], user: [Int32], start: [Int64], end: [Int64], zones: [String: Value],
        characteristics: [String: Value],
        added: Int, deleted: Int, from: SequenceNumber = .beginning, through: SequenceNumber = .beginning
    ) {
        (self.users, self.user, self.start, self.end, self.zones) = (users, user, start, end, zones)
        (self.characteristics, self.added, self.deleted, self.from) = (characteristics, added, deleted, from)
        self.through = through
    }

    /// Whether the columns fit together.
    package var isWhole: Bool {
        user.count == start.count && start.count == end.count
            && user.allSatisfy { users.indices.contains(Int($0)) }
    }
}
