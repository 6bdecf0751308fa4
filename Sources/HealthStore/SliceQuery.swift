import HealthModel

/// One user's samples of some stretches of time.
public struct SliceQuery: Sendable {
    public var user: String
    public var types: TypeFilter.Types
    /// In order, without overlap. The samples overlap one of these; an instant sample at a lower bound does, one at an upper bound doesn't.
    public let ranges: [Range<Instant>]
    /// Only rows first seen up to this sequence.
    public var asOf: Int64
    /// The same for types that differ.
    public var asOfByType: [String: Int64] = [:]
    /// Of which types `created`, `metadata`, `payload` and `healthKitUUID` are filled.
    public var detailed: TypeFilter.Types
    /// Of which types `payload` alone is filled, for the samples that have one.
    public var payloads: Set<String> = []
    /// By type: only its samples that overlap one of this other type. Few of many, where one is needed for the other.
    public var during: [String: String] = [:]

    public init(
        user: String, types: TypeFilter.Types, ranges: [Range<Instant>], asOf: Int64 = .max,
        detailed: TypeFilter.Types = .only([])
    ) {
        self.user = user
        self.types = types
        self.ranges = Self.union(ranges)
        self.asOf = asOf
        self.detailed = detailed
    }

    static func union(_ ranges: [Range<Instant>]) -> [Range<Instant>] {
        var union: [Range<Instant>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = union.last, range.lowerBound <= last.upperBound {
                union[union.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                union.append(range)
            }
        }
        return union
    }

    static func overlaps(_ start: Instant, _ end: Instant, _ ranges: [Range<Instant>]) -> Bool {
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
