import HealthModel

/// What an ingest reports besides its position.
package struct IngestDetails: Codable, Sendable, Equatable {
    /// The port that it listens on; not the configured one if that was in use.
    package var ingestPort: Int
    /// The numbers of requests stored completely and of requests refused, since it started.
    package var taken: Int64
    package var refused: Int64
    /// When something was last accepted.
    package var lastTaken: Instant?
    /// The stack that this one follows, if any.
    package var following: Following?

    package init(ingestPort: Int, taken: Int64 = 0, refused: Int64 = 0, lastTaken: Instant? = nil) {
        (self.ingestPort, self.taken, self.refused, self.lastTaken) = (ingestPort, taken, refused, lastTaken)
    }
    /// How well another stack can be followed.
    package struct Following: Codable, Sendable, Equatable {
        /// The address of the other stack, without a name, a password or a query.
        package var address: String
        /// How many samples were taken in since the process began, deletions included.
        package var samples: Int64 = 0
        /// When the other stack last answered with changes, or said that there are none.
        package var lastAnswer: Instant?
        /// Whether it had more at that time.
        package var hasMore = false
        /// Whether the end of its changes has never been reached: until then no day becomes final.
        package var isCopying = false
        /// Why no changes are arriving now.
        package var problem: Problem?

        package init(address: String) { self.address = address }
    }

    package struct Problem: Codable, Sendable, Equatable {
        package var what: String
        package var remedy: String
        /// Whether asking again is useless until a person does something.
        package var isRefusal: Bool
        /// When the first of the failures came, and when the next request will be sent.
        package var since: Instant
        package var nextTry: Instant

        package init(what: String, remedy: String, isRefusal: Bool, since: Instant, nextTry: Instant) {
            (self.what, self.remedy, self.isRefusal) = (what, remedy, isRefusal)
            (self.since, self.nextTry) = (since, nextTry)
        }
    }
}
