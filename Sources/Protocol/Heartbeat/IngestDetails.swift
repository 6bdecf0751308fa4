import HealthModel

/// What an ingest says beside where it stands.
package struct IngestDetails: Codable, Sendable, Equatable {
    /// Where it listens; another port than the configuration's when that was taken.
    package var ingestPort: Int
    /// Requests of which all is durable, and those that were refused, since it started.
    package var taken: Int64
    package var refused: Int64
    /// When something was last taken in.
    package var lastTaken: Instant?

    package init(ingestPort: Int, taken: Int64 = 0, refused: Int64 = 0, lastTaken: Instant? = nil) {
        self.ingestPort = ingestPort
        self.taken = taken
        self.refused = refused
        self.lastTaken = lastTaken
    }
}
