import HealthModel

/// The observer: a user's timeline, and where each entry comes from.
package struct TimelineQuery: Query {
    package typealias Answer = TimelinePage
    package static let name = "timeline"

    package var user: String
}

extension Query where Self == TimelineQuery { package static func timeline(user: String) -> Self { Self(user: user) } }

/// A user's timeline; null if there is no such user.
package struct TimelinePage: PageContent, Equatable {
    package var user: String
    @OrNull package var timeline: [ZonePlan.Part]?
    /// All users with a timeline.
    package var users: [String]

    package init(user: String, timeline: [ZonePlan.Part]?, users: [String]) {
        (self.user, self.timeline, self.users) = (user, timeline, users)
    }
}
