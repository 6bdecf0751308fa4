import HealthModel

/// What an instance that hosts a day handler reports besides its position.
package struct HandlerDetails: Codable, Sendable, Equatable {
    /// Days to compute.
    package var pending: Int
    /// The number of days that couldn't be computed.
    package var failedDays: Int
    @OrNull package var lastSynced: Instant?
    /// How many conditions it watches for people; nil if it never watches any.
    @IfReadable package var conditions: Int?

    package init(pending: Int, failedDays: Int, lastSynced: Instant?, conditions: Int? = nil) {
        (self.pending, self.failedDays, self.lastSynced) = (pending, failedDays, lastSynced)
        self.conditions = conditions
    }
}

/// When the last check for anything new took place. Sent along with other news, but never a reason for a heartbeat by
/// itself.
package struct CheckDetails: Codable, Sendable, Equatable {
    @OrNull package var lastChecked: Instant?

    package init(lastChecked: Instant?) { self.lastChecked = lastChecked }
}

/// What the consolidator reports besides its position.
package struct ConsolidatorDetails: Codable, Sendable, Equatable {
    /// A figure that is left out of summaries because another handler's figure has the same name.
    package struct Collision: Codable, Sendable, Equatable {
        package var figure: String
        /// The handler whose figure is left out.
        package var handler: String
        /// The handler whose figure keeps the name; nil if the summary itself has such a member.
        @OrNull package var taken: String?

        package init(figure: String, handler: String, taken: String?) {
            (self.figure, self.handler, self.taken) = (figure, handler, taken)
        }
    }

    package var days: Int
    /// The number of days that are over but not yet final.
    package var openDays: Int
    /// Instances that days are waiting for.
    package var missing: [String]
    @IfAny package var collisions: [Collision]

    package init(days: Int, openDays: Int, missing: [String], collisions: [Collision] = []) {
        (self.days, self.openDays, self.missing, self.collisions) = (days, openDays, missing, collisions)
    }
}
