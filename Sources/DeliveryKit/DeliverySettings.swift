import HealthModel

/// What the uploader's configuration says of how it trusts its backend.
package struct DeliverySettings: Sendable, Equatable {
    /// The backend's URL: what is known of a backend holds at its address only.
    package var address: String
    /// How often what the backend holds is compared with what it took.
    package var compareEvery: Duration
    /// Elements of a metric that a backend may refuse in a row, without naming them, before it is taken for the cause. 0 believes it always.
    package var refusedInARow: Int

    package init(address: String = "", compareEvery: Duration = .seconds(3600), refusedInARow: Int = 3) {
        self.address = address
        self.compareEvery = compareEvery
        self.refusedInARow = refusedInARow
    }
}
