import HealthModel

/// What the uploader's configuration says of how it trusts its backend.
public struct UploaderSettings: Sendable, Equatable {
    /// The backend's URL: what is known of a backend holds at its address only.
    public var address: String
    /// How often what the backend holds is compared with what it took.
    public var compareEvery: Instant
    /// Elements of a metric that a backend may refuse in a row, without naming them, before it is taken for the cause. 0 believes it always.
    public var refusedInARow: Int

    public init(address: String = "", compareEvery: Instant = 3600 * Instant.second, refusedInARow: Int = 3) {
        self.address = address
        self.compareEvery = compareEvery
        self.refusedInARow = refusedInARow
    }
}
