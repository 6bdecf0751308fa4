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
        (self.start, self.end, self.counted, self.covered, self.amount) = (start, end, counted, covered, amount)
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
    /// Whether these are the source's sums over many hours, which add only what they have beyond all else.
    package var isSums: Bool
}

extension CumulativeMerge {
    /// The intervals within some ranges, in order; their amounts add up to `total(in:)`. A long sum's interval lies over
    /// those of finer samples.
    package func intervals(in ranges: [Range<Instant>]) -> [MergeInterval] {
        let ranges = ranges.map(\.microseconds)
        let isSum = Set(longSums.map(\.group))
        var found: [MergeInterval] = []
        // For each source of sums, the sources below that it leaves no time.
        var below: [Int: Set<Int>] = [:]
        Sweep(starts: starts, ends: ends, groups: groups, sources: names.count).with(longSums).run {
            start, end, active in
            let all = active.all
            for range in ranges {
                let part = range.clamped(to: start..<end)
                guard !part.isEmpty, let first = all.first else { continue }
                if isSum.contains(first) {
                    below[first, default: []].formUnion(all.dropFirst())
                    continue
                }
                found.append(
                    MergeInterval(
                        start: Instant(microseconds: part.lowerBound), end: Instant(microseconds: part.upperBound),
                        counted: names[first],
                        covered: all.dropFirst().map { names[$0] }, amount: 0))
            }
        }
        var amounts = Array(repeating: CompensatedSum(), count: found.count)
        forEachSample(in: found.map { ($0.start..<$0.end).microseconds }, instants: false) { index, _, value in
            amounts[index].add(value)
        }
        for index in found.indices { found[index].amount = amounts[index].value }
        found += instants(in: ranges)
        for sum in longSums where sum.counts {
            for part in ranges.flatMap({ sum.ranges.clamped(to: $0) }) {
                found.append(
                    MergeInterval(
                        start: Instant(microseconds: part.lowerBound), end: Instant(microseconds: part.upperBound),
                        counted: names[sum.group], covered: below[sum.group, default: []].sorted().map { names[$0] },
                        amount: sum.part(in: part) ?? 0))
            }
        }
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

    /// What each source contributed to `total(in:)`, highest priority first; its long sums are apart.
    package func shares(in ranges: [Range<Instant>]) -> [MergeShare] {
        let ranges = ranges.map(\.microseconds)
        var sums = Array(repeating: CompensatedSum(), count: names.count)
        var lengths = coverage.map { coverage in
            ranges.reduce(0) { $0 + coverage.length($1.lowerBound, $1.upperBound) }
        }
        var samples = Array(repeating: 0, count: names.count)
        forEachPart(in: ranges) { _, group, value in sums[group].add(value) }
        for row in starts.indices where ranges.meet(starts[row], ends[row]) { samples[Int(groups[row])] += 1 }
        for sum in longSums { lengths[sum.group] = 0 }
        for sum in longSums where ranges.meet(sum.start, sum.end) {
            samples[sum.group] += 1
            if sum.counts { lengths[sum.group] += ranges.reduce(0) { $0 + sum.ranges.clamped(to: $1).length } }
        }
        let isSums = Set(longSums.map(\.group))
        return names.indices.filter { samples[$0] > 0 || lengths[$0] > 0 }.map {
            MergeShare(
                source: names[$0], samples: samples[$0], counted: .microseconds(lengths[$0]), amount: sums[$0].value,
                isSums: isSums.contains($0))
        }
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
