import HealthModel

/// What a destination's stage asks its host to deliver: some of one user's elements. The effect runner turns them into
/// the form that its destination accepts.
package struct DeliveryRequest: Sendable {
    package var group: DeliveryGroup
    /// Which of the group's elements to deliver.
    package var part: Range<Int>
    package var deviceId: String
    package var syncedAt: Instant
    /// Whether the destination accepts samples in columns.
    package var takesColumns = false
    /// Whether our credentials must first be read from their source again, since the destination refused the last ones.
    package var refreshToken: Bool
    /// The generations of the stores that gave the elements their versions: versions of different ones don't compare.
    package var history = ""
    /// The last known state of the destination, which shows whether an older copy of it was restored.
    package var seen = SeenBackend()

    package init(
        group: DeliveryGroup, part: Range<Int>, deviceId: String, syncedAt: Instant, takesColumns: Bool = false,
        refreshToken: Bool = false, history: String = "", seen: SeenBackend = SeenBackend()
    ) {
        (self.group, self.part, self.deviceId, self.syncedAt) = (group, part, deviceId, syncedAt)
        (self.takesColumns, self.refreshToken, self.history, self.seen) = (takesColumns, refreshToken, history, seen)
    }

    /// Whether the elements are sent as columns.
    ///
    /// A single element is never sent as columns: the form must affect neither whether the element is refused for good
    /// nor what it is compared with.
    package var isColumns: Bool {
        guard takesColumns, part.count > 1, case .samples = group.content else { return false }
        return true
    }
}

/// Asks the destination what it holds.
package struct HoldingsRequest: Sendable {
    package var refreshToken: Bool
    /// Whether the destination should count its rows, which takes a backend about a second for two million; otherwise
    /// it may answer from running counts.
    package var countsRows: Bool

    package init(refreshToken: Bool = false, countsRows: Bool = false) {
        (self.refreshToken, self.countsRows) = (refreshToken, countsRows)
    }
}

/// What was known about the destination when a request was sent.
package struct SeenBackend: Sendable, Equatable {
    /// nil until the destination has shown a generation at this address.
    package var generation: String?
    /// The highest sequence that the destination has shown.
    package var sequence: Int64?

    package init(generation: String? = nil, sequence: Int64? = nil) {
        (self.generation, self.sequence) = (generation, sequence)
    }
}
