import HealthModel

/// What an instance that hosts a day handler says beside where it stands.
public struct HandlerDetails: Codable, Sendable, Equatable {
    /// Days to compute.
    public var pending: Int
    /// Days that couldn't be computed.
    public var failedDays: Int
    @OrNull public var lastSynced: Instant?

    public init(pending: Int, failedDays: Int, lastSynced: Instant?) {
        self.pending = pending
        self.failedDays = failedDays
        self.lastSynced = lastSynced
    }
}

/// When somebody last looked whether there is anything new: said along, and no reason to say anything.
public struct CheckDetails: Codable, Sendable, Equatable {
    @OrNull public var lastChecked: Instant?

    public init(lastChecked: Instant?) { self.lastChecked = lastChecked }
}

/// What the consolidator says beside where it stands.
public struct ConsolidatorDetails: Codable, Sendable, Equatable {
    /// A figure that is in no summary, because another handler's has the name.
    public struct Collision: Codable, Sendable, Equatable {
        public var figure: String
        /// Whose it is.
        public var handler: String
        /// Whose figure has the name; nil: the summary's own member.
        @OrNull public var taken: String?

        public init(figure: String, handler: String, taken: String?) {
            self.figure = figure
            self.handler = handler
            self.taken = taken
        }
    }

    public var days: Int
    /// Over, and not final yet.
    public var openDays: Int
    /// Instances that days wait for.
    public var missing: [String]
    @IfAny public var collisions: [Collision]

    public init(days: Int, openDays: Int, missing: [String], collisions: [Collision] = []) {
        self.days = days
        self.openDays = openDays
        self.missing = missing
        self.collisions = collisions
    }
}
