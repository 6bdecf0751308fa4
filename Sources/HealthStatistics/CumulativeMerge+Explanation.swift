import HealthModel

/// Explains a total: which source counted in an interval, and which sources it covered.
package struct MergeInterval: Sendable, Equatable {
    package var start: Instant
    /// Equal to `start` for a sample without duration.
    package var end: Instant
    /// The source that counted.
    package var counted: String
    /// Other sources that had samples here but didn't count.
    package var covered: [String]
    /// The amount that the interval added to the total.
    package var amount: Double

    package init(start: Instant, end: Instant, counted: String, covered: [String], amount: Double) {
        self.start = start
        self.end = end
        self.counted = counted
        self.covered = covered
        self.amount = amount
    }
}

/// What one source contributed to a total.
package struct MergeShare: Sendable, Equatable {
    package var source: String
    /// Samples that overlap the ranges, whether they counted or not.
    package var samples: Int
    /// The time in which the source counted.
    package var counted: Duration
    package var amount: Double
}

extension CumulativeMerge {
    /// The intervals within some ranges, in order; their amounts add up to `total(in:)`.
    package func intervals(in ranges: [Range<Instant>]) -> [MergeInterval] {
        let ranges = ranges.map(\.microseconds)
        var found: [MergeInterval] = []
        Sweep(starts: starts, ends: ends, groups: groups, sources: names.count).run { start, end, active in
            let all = active.all
            for range in ranges {
                let part = range.clamped(to: start..<end)
                guard !part.isEmpty, let first = all.first else { continue }
                found.append(
                    MergeInterval(
                        start: Instant(microseconds: part.lowerBound), end: Instant(microseconds: part.upperBound),
                        counted: names[first],
                        covered: all.dropFirst().map { names[$0] }, amount: 0))
            }
        }
        var amounts = Array(repeating: CompensatedSum(), count: found.count)
        forEachPart(in: found.map { ($0.start..<$0.end).microseconds }, instants: false) { index, _, value in
            amounts[index].add(value)
        }
        for index in found.indices { found[index].amount = amounts[index].value }
        found += instants(in: ranges)
        return found.sorted { ($0.start, $0.end, $0.counted) < ($1.start, $1.end, $1.counted) }
    }

    private func instants(in ranges: [Range<Int64>]) -> [MergeInterval] {
        starts.indices.compactMap { row in
            guard starts[row] == ends[row], ranges.contains(where: { $0.contains(starts[row]) }), !isCovered(row) else {
                return nil
            }
            return MergeInterval(
                start: Instant(microseconds: starts[row]), end: Instant(microseconds: ends[row]),
                counted: names[Int(groups[row])], covered: [], amount: values[row])
        }
    }

    /// What each source contributed to `total(in:)`, highest priority first.
    package func shares(in ranges: [Range<Instant>]) -> [MergeShare] {
        let ranges = ranges.map(\.microseconds)
        var sums = Array(repeating: CompensatedSum(), count: names.count)
        forEachPart(in: ranges) { _, row, value in sums[Int(groups[row])].add(value) }
        var shares = names.indices.map { group in
            MergeShare(
                source: names[group], samples: 0,
                counted: .microseconds(
                    ranges.reduce(0) { $0 + coverage[group].length($1.lowerBound, $1.upperBound) }),
                amount: sums[group].value)
        }
        for row in starts.indices where hasPart(row, in: ranges) { shares[Int(groups[row])].samples += 1 }
        return shares.filter { $0.samples > 0 }
    }
}

extension MergeInterval {
    /// Joins neighbouring intervals that have the same sources and are less than `gap` apart, as people would when
    /// looking at a day, and adds up their amounts.
    ///
    /// `time` is the part of such an interval for which its sources have samples.
    package static func joined(_ intervals: [MergeInterval], gap: Duration) -> [(
        interval: MergeInterval, time: Duration
    )] {
        var joined: [(interval: MergeInterval, time: Duration)] = []
        var sum = CompensatedSum()
        for next in intervals {
            if let last = joined.last?.interval, last.counted == next.counted, last.covered == next.covered,
                next.start - last.end < gap
            {
                sum.add(next.amount)
                joined[joined.count - 1].interval.end = max(last.end, next.end)
                joined[joined.count - 1].interval.amount = sum.value
                joined[joined.count - 1].time += next.end - next.start
            } else {
                sum = CompensatedSum()
                sum.add(next.amount)
                joined.append((next, next.end - next.start))
            }
        }
        return joined
    }
}
