import HealthModel

/// What an ingest reports besides its position.
package struct IngestDetails: Codable, Sendable, Equatable {
    /// The port that it listens on; not the configured one if that was in use.
    package var ingestPort: Int
    /// Requests stored completely, and refused requests, since it started.
    package var taken: Int64
    package var refused: Int64
    /// When something was last accepted.
    package var lastTaken: Instant?

    package init(ingestPort: Int, taken: Int64 = 0, refused: Int64 = 0, lastTaken: Instant? = nil) {
        self.ingestPort = ingestPort
        self.taken = taken
        self.refused = refused
        self.lastTaken = lastTaken
    }
}
