import HealthModel

/// Instants as disjoint ranges in order; adjacent ranges are joined.
public struct IntervalSet: Sendable, Equatable {
    /// The ranges in order; none is empty or touches another.
    public private(set) var ranges: [Range<Instant>]

    /// The union of ranges in any order; empty ones are left out.
    public init(_ ranges: [Range<Instant>] = []) { self.ranges = ranges.united() }

    /// Whether it contains no instant.
    public var isEmpty: Bool { ranges.isEmpty }

    /// The total length of its ranges.
    public var length: Duration {
        .microseconds(ranges.reduce(0) { $0 + ($1.upperBound.microseconds - $1.lowerBound.microseconds) })
    }

    /// Instants in either.
    public func union(_ other: IntervalSet) -> IntervalSet { IntervalSet(ranges + other.ranges) }

    /// Instants in both.
    public func intersection(_ other: IntervalSet) -> IntervalSet {
        var found: [Range<Instant>] = []
        var i = 0
        var j = 0
        while i < ranges.count, j < other.ranges.count {
            let common = ranges[i].clamped(to: other.ranges[j])
            if !common.isEmpty { found.append(common) }
            if ranges[i].upperBound < other.ranges[j].upperBound { i += 1 } else { j += 1 }
        }
        return IntervalSet(found)
    }

    /// The instants in this set that aren't in the other.
    public func subtracting(_ other: IntervalSet) -> IntervalSet {
        var left: [Range<Instant>] = []
        var j = 0
        for range in ranges {
            var start = range.lowerBound
            while j < other.ranges.count, other.ranges[j].upperBound <= start { j += 1 }
            var k = j
            while k < other.ranges.count, other.ranges[k].lowerBound < range.upperBound {
                if start < other.ranges[k].lowerBound { left.append(start..<other.ranges[k].lowerBound) }
                start = Swift.max(start, other.ranges[k].upperBound)
                k += 1
            }
            if start < range.upperBound { left.append(start..<range.upperBound) }
        }
        return IntervalSet(left)
    }
}
