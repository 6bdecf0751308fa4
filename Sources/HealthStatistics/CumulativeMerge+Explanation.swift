import HealthModel

/// Why a total is what it is: who counted for an interval, and whom that covered.
public struct MergeInterval: Sendable, Equatable {
    public var start: Instant
    /// Equal to `start` for a sample without duration.
    public var end: Instant
    /// The source that counted.
    public var counted: String
    /// Sources that had samples here too, which didn't count.
    public var covered: [String]
    /// What it added to the total.
    public var amount: Double

    public init(start: Instant, end: Instant, counted: String, covered: [String], amount: Double) {
        self.start = start
        self.end = end
        self.counted = counted
        self.covered = covered
        self.amount = amount
    }
}

extension CumulativeMerge {
    /// The intervals of some ranges in order, which add up to `total(in:)`.
    public func intervals(in ranges: [Range<Instant>]) -> [MergeInterval] {
        var found: [MergeInterval] = []
        Sweep(starts: starts, ends: ends, groups: groups, sources: names.count).run { start, end, active in
            let all = active.all
            for range in ranges {
                let part = range.clamped(to: start..<end)
                guard !part.isEmpty, let first = all.first else { continue }
                found.append(
                    MergeInterval(
                        start: part.lowerBound, end: part.upperBound, counted: names[first],
                        covered: all.dropFirst().map { names[$0] }, amount: 0))
            }
        }
        var amounts = Array(repeating: CompensatedSum(), count: found.count)
        forEachPart(in: found.map { $0.start..<$0.end }, instants: false) { index, _, value in amounts[index].add(value)
        }
        for index in found.indices { found[index].amount = amounts[index].value }
        found += instants(in: ranges)
        return found.sorted { ($0.start, $0.end, $0.counted) < ($1.start, $1.end, $1.counted) }
    }

    private func instants(in ranges: [Range<Instant>]) -> [MergeInterval] {
        starts.indices.compactMap { row in
            guard starts[row] == ends[row], ranges.contains(where: { $0.contains(starts[row]) }), !isCovered(row) else {
                return nil
            }
            return MergeInterval(
                start: starts[row], end: ends[row], counted: names[Int(groups[row])], covered: [], amount: values[row])
        }
    }
}
