import HealthModel

/// Any stage: the rows of its keyed changelog for one day.
package struct DayQuery: Query {
    package typealias Answer = DayPage
    package static let name = "day"

    package var user: String
    /// Since 1970.
    package var day: Int
    /// Only topics with this prefix.
    @IfReadable package var topic: String?
}

extension Query where Self == DayQuery {
    package static func day(user: String, day: Int, topic: String? = nil) -> Self {
        Self(user: user, day: day, topic: topic)
    }
}

/// A keyed changelog's rows for one day.
package struct DayPage: PageContent, Equatable {
    package var rows: [ChangedRow]

    package init(rows: [ChangedRow]) { self.rows = rows }
}
