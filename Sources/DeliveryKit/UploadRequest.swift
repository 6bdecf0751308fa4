import HealthModel

/// What a destination's stage asks its host to deliver: some elements of one user. The effect's runner makes of them what its destination takes.
package struct UploadRequest: Sendable {
    package var group: DeliveryGroup
    /// Which of the group's elements.
    package var part: Range<Int>
    package var deviceId: String
    package var syncedAt: Instant
    /// Whether the destination takes samples in columns.
    package var takesColumns = false
    /// Read what proves who we are from its source again first: the destination refused the last one.
    package var refreshToken: Bool
    /// What was seen of the destination; it can tell by it that it was put back to an older copy.
    package var seen = SeenBackend()

    package init(
        group: DeliveryGroup, part: Range<Int>, deviceId: String, syncedAt: Instant, takesColumns: Bool = false,
        refreshToken: Bool = false, seen: SeenBackend = SeenBackend()
    ) {
        self.group = group
        self.part = part
        self.deviceId = deviceId
        self.syncedAt = syncedAt
        self.takesColumns = takesColumns
        self.refreshToken = refreshToken
        self.seen = seen
    }

    /// Whether the elements go as columns.
    ///
    /// One element alone never does: what is refused in the end, and what is held against that, doesn't hang on the form.
    package var isColumns: Bool {
        guard takesColumns, part.count > 1, case .samples = group.content else { return false }
        return true
    }
}

/// The question what the destination holds.
package struct HoldingsRequest: Sendable {
    package var refreshToken: Bool
    /// Whether it is to count its rows, which takes a backend about a second for two million; else it may answer by what it counted as they came.
    package var countsRows = false
}

/// What was known of the destination when something was asked of it.
package struct SeenBackend: Sendable, Equatable {
    /// nil until it has shown one at this address.
    package var generation: String?
    /// The highest that it has shown.
    package var sequence: Int64?

    package init(generation: String? = nil, sequence: Int64? = nil) {
        (self.generation, self.sequence) = (generation, sequence)
    }
}
