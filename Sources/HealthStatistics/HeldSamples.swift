import HealthModel

/// Turns a discrete type's samples into stretches of time: a sample holds until the next one from its source, but only
/// for a limited time. Of several that start together, the latest holds.
///
/// Where sources overlap, the one with the highest priority counts at each instant; the others fill the gaps.
public struct HeldSamples: Sendable {
    /// A stretch of time with one value.
    public struct Stretch: Sendable, Equatable {
        /// Never empty.
        public var range: Range<Instant>
        /// The sample's.
        public var value: Double

        /// A stretch in which this value holds.
        public init(range: Range<Instant>, value: Double) {
            self.range = range
            self.value = value
        }
    }

    /// The stretches don't overlap; they are grouped by source, and in order of time within each source.
    public private(set) var stretches: [Stretch] = []

    /// - Parameters:
    ///   - rows: in canonical order.
    ///   - hold: how long a sample holds after its end.
    ///   - within: samples count only within these ranges.
    public init(_ page: SamplePage, rows: [Int], order: SourceOrder, hold: Duration, within: IntervalSet) {
        let groups = SourceGroups(page, rows: rows, order: order)
        var bySource: [[Int]] = Array(repeating: [], count: groups.sources.count)
        for (row, source) in zip(rows, groups.ofRow) where page.value[row].isFinite {
            bySource[Int(source)].append(row)
        }
        let hold = hold.microseconds
        var free = within
        for rows in bySource.map(page.latestLast) {
            let held = zip(rows, rows.dropFirst().map { page.start[$0] } + [.max]).map { row, next in
                let end = min(next, max(page.start[row], page.end[row]) + hold)
                return Stretch(
                    range: Range(microseconds: page.start[row]..<max(page.start[row], end)), value: page.value[row])
            }
            stretches += Self.common(held, free)
            free = free.subtracting(IntervalSet(held.map(\.range)))
        }
    }

    private static func common(_ held: [Stretch], _ free: IntervalSet) -> [Stretch] {
        var found: [Stretch] = []
        var place = 0
        for stretch in held {
            while place < free.ranges.count, free.ranges[place].upperBound <= stretch.range.lowerBound { place += 1 }
            var next = place
            while next < free.ranges.count, free.ranges[next].lowerBound < stretch.range.upperBound {
                let common = stretch.range.clamped(to: free.ranges[next])
                if !common.isEmpty { found.append(Stretch(range: common, value: stretch.value)) }
                next += 1
            }
        }
        return found
    }
}
