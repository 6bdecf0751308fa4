import HealthModel

/// One user's samples of some stretches of time.
public struct SliceQuery: Sendable {
    public var user: String
    public var types: TypeFilter.Types
    /// The samples overlap one of these; an instant sample at a lower bound does, one at an upper bound doesn't.
    public var ranges: [Range<Instant>]
    /// Only rows first seen up to this sequence.
    public var asOf: Int64
    /// The same for types that differ.
    public var asOfByType: [String: Int64] = [:]
    /// Of which types `created`, `metadata`, `payload` and `healthKitUUID` are filled.
    public var detailed: TypeFilter.Types

    public init(
        user: String, types: TypeFilter.Types, ranges: [Range<Instant>], asOf: Int64 = .max,
        detailed: TypeFilter.Types = .only([])
    ) {
        self.user = user
        self.types = types
        self.ranges = ranges.filter { !$0.isEmpty }
        self.asOf = asOf
        self.detailed = detailed
    }

    func overlaps(_ start: Instant, _ end: Instant) -> Bool {
        ranges.contains { start < $0.upperBound && (end > $0.lowerBound || (start == end && start >= $0.lowerBound)) }
    }
}

/// The place of a sample in canonical order: by start, then id.
public struct SlicePosition: Sendable, Hashable, Comparable {
    public var start: Instant
    public var id: SampleID

    public init(start: Instant, id: SampleID) {
        self.start = start
        self.id = id
    }

    public static func < (a: SlicePosition, b: SlicePosition) -> Bool { (a.start, a.id) < (b.start, b.id) }
}

/// Part of a slice.
public struct SlicePage: Sendable {
    /// In canonical order over all types.
    public var samples = SamplePage()
    /// Where the next page begins after; nil when this was the last.
    public var next: SlicePosition?
}
