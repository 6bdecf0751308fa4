import HealthModel

/// What an instance that hosts a day handler says beside where it stands.
package struct HandlerDetails: Codable, Sendable, Equatable {
    /// Days to compute.
    package var pending: Int
    /// Days that couldn't be computed.
    package var failedDays: Int
    @OrNull package var lastSynced: Instant?

    package init(pending: Int, failedDays: Int, lastSynced: Instant?) {
        self.pending = pending
        self.failedDays = failedDays
        self.lastSynced = lastSynced
    }
}

/// When somebody last looked whether there is anything new: said along, and no reason to say anything.
package struct CheckDetails: Codable, Sendable, Equatable {
    @OrNull package var lastChecked: Instant?

    package init(lastChecked: Instant?) { self.lastChecked = lastChecked }
}

/// What the consolidator says beside where it stands.
package struct ConsolidatorDetails: Codable, Sendable, Equatable {
    /// A figure that is in no summary, because another handler's has the name.
    package struct Collision: Codable, Sendable, Equatable {
        package var figure: String
        /// Whose it is.
        package var handler: String
        /// Whose figure has the name; nil: the summary's own member.
        @OrNull package var taken: String?

        package init(figure: String, handler: String, taken: String?) {
            self.figure = figure
            self.handler = handler
            self.taken = taken
        }
    }

    package var days: Int
    /// Over, and not final yet.
    package var openDays: Int
    /// Instances that days wait for.
    package var missing: [String]
    @IfAny package var collisions: [Collision]

    package init(days: Int, openDays: Int, missing: [String], collisions: [Collision] = []) {
        self.days = days
        self.openDays = openDays
        self.missing = missing
        self.collisions = collisions
    }
}
