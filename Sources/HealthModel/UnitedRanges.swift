extension Sequence {
    /// Ranges in any order as disjoint ones in order: those that overlap or touch are joined, empty ones are left out.
    @inlinable
    package func united<Bound>() -> [Range<Bound>] where Element == Range<Bound> {
        var union: [Range<Bound>] = []
        for range in sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = union.last, range.lowerBound <= last.upperBound {
                union[union.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
            } else {
                union.append(range)
            }
        }
        return union
    }
}
