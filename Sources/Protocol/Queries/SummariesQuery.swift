import HealthModel

/// The observer: Apple's own figures for a user's dates, both included.
package struct SummariesQuery: Query {
    package typealias Answer = SummariesPage
    package static let name = "summaries"

    package var user: String
    package var from: String
    package var to: String
}

extension Query where Self == SummariesQuery {
    package static func summaries(user: String, from: String, to: String) -> Self {
        Self(user: user, from: from, to: to)
    }
}

/// Apple's own figures for a user's days, by date.
package struct SummariesPage: PageContent, Equatable {
    package struct Row: Codable, Sendable, Equatable {
        package var date: String
        package var figures: Value

        package init(date: String, figures: Value) { (self.date, self.figures) = (date, figures) }
    }

    package var summaries: [Row]
    /// Set on the last part if there is more: the date to continue from.
    package var `continue`: String?

    package init(summaries: [Row], continue date: String? = nil) {
        self.summaries = summaries
        `continue` = date
    }
}
