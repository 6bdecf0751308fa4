import HealthModel

/// One user's samples in a number of time ranges.
package struct SliceQuery: Sendable {
    package var user: String
    package var types: TypeFilter.Types
    /// The ranges are in order and don't overlap. Samples that overlap one of these ranges are returned. A sample
    /// without duration is included at a lower bound, but not at an upper bound.
    package let ranges: [Range<Instant>]
    /// Only rows first stored under this sequence or an earlier one are returned.
    package var asOf: SequenceNumber
    /// The sequences for types that have a different limit.
    package var asOfByType: [String: SequenceNumber] = [:]
    /// The types for which `created`, `metadata`, `payload` and `healthKitUUID` are filled. `created` is also filled for
    /// samples of a discrete type that have the same times but different values.
    package var detailed: TypeFilter.Types
    /// The types for which only `payload` is filled, if the sample has one.
    package var payloads: Set<String> = []
    /// Maps a type to another type. Of the first type, only samples that overlap a sample of the second are returned.
    /// This saves reading many samples when few are needed.
    package var during: [String: String] = [:]

    package init(
        user: String, types: TypeFilter.Types, ranges: [Range<Instant>], asOf: SequenceNumber = .end,
        detailed: TypeFilter.Types = .only([])
    ) {
        (self.user, self.types) = (user, types)
        self.ranges = ranges.united()
        (self.asOf, self.detailed) = (asOf, detailed)
    }

    /// Whether `payload` is filled for samples of a type, with or without other columns.
    package func fillsPayload(of type: String) -> Bool {
        payloads.contains(type) || TypeFilter(types: detailed).includes(type: type)
    }

    /// Whether a row overlaps any of the ranges; all times are in microseconds since 1970.
    static func overlaps(_ start: Int64, _ end: Int64, _ ranges: [Range<Int64>]) -> Bool {
        ranges.contains { start < $0.upperBound && (end > $0.lowerBound || (start == end && start >= $0.lowerBound)) }
    }
}

/// The place of a sample in canonical order: by start, then id.
package struct SlicePosition: Sendable, Hashable, Comparable {
    package var start: Instant
    package var id: SampleID

    package init(start: Instant, id: SampleID) { (self.start, self.id) = (start, id) }

    package static func < (a: SlicePosition, b: SlicePosition) -> Bool { (a.start, a.id) < (b.start, b.id) }
}

/// Part of a slice.
package struct SlicePage: Sendable {
    /// The samples are in canonical order over all types.
    package var samples = SamplePage()
    /// The position after which the next page begins; nil after the last page.
    package var next: SlicePosition?
}
