import HealthModel

/// What a destination's configuration says of what it gets, and of how it is trusted.
package struct DeliverySettings: Sendable, Equatable {
    /// The backend's URL, without a secret: what is known of a backend holds at its address only.
    package var address: String
    /// How often what the backend holds is compared with what it took.
    package var compareEvery: Duration
    /// Elements of a metric that a backend may refuse in a row, without naming them, before it is taken for the cause. 0 believes it always.
    package var refusedInARow: Int
    package var choice: DeliveryChoice
    /// At most so many on average; 0: as many as there are.
    package var samplesPerSecond: Double

    package init(
        address: String = "", compareEvery: Duration = .seconds(3600), refusedInARow: Int = 3,
        choice: DeliveryChoice = .all, samplesPerSecond: Double = 0
    ) {
        self.address = address
        self.compareEvery = compareEvery
        self.refusedInARow = refusedInARow
        self.choice = choice
        self.samplesPerSecond = samplesPerSecond
    }
}
