import HealthModel

/// Sums of a cumulative type whose sources overlap; each instant is counted for one source only.
///
/// A sample's value is spread evenly over its time. Where sources overlap, only the source with the highest priority
/// counts, and the others count only in the remaining time. Overlapping samples of one source all count. A sample
/// without duration counts in full unless a source of higher priority covers that instant with a sample that has a
/// duration. A sample that spans several buckets is divided among them in proportion. Values are added in canonical
/// order (start, id) with compensation, so that figures don't depend on the order of arrival.
///
/// Cost: The cost is O(n log n) for n samples from a handful of sources, however much they overlap.
public struct CumulativeMerge: Sendable {
    /// Microseconds since 1970, as in the page.
    let starts: [Int64]
    let ends: [Int64]
    let values: [Double]
    let groups: [Int32]
    let names: [String]
    /// For each source, the time in which it counts.
    let coverage: [Coverage]

    /// - Parameters:
    ///   - rows: rows of one type in canonical order, as returned by `SamplePage.rows(of:)`; those without a number are
    ///     left out.
    ///   - order: the priority of sources.
    public init(_ page: SamplePage, rows: [Int], order: SourceOrder = SourceOrder()) {
        let rows = rows.filter { page.value[$0].isFinite && page.start[$0] <= page.end[$0] }
        let sources = SourceGroups(page, rows: rows, order: order)
        starts = rows.map { page.start[$0] }
        ends = rows.map { page.end[$0] }
        values = rows.map { page.value[$0] }
        groups = sources.ofRow
        names = sources.sources.map(\.label)
        var coverage = Array(repeating: Coverage(), count: names.count)
        Sweep(starts: starts, ends: ends, groups: groups, sources: names.count).run { start, end, active in
            if let first = active.first { coverage[first].append(start, end) }
        }
        self.coverage = coverage
    }

    /// The sum in each bucket; nil where no sample counts. Buckets must be in order and not overlap.
    public func sums(in buckets: [Range<Instant>]) -> [Double?] {
        sums(in: buckets, into: buckets.count) { $0 }
    }

    /// The sum over all of the ranges (such as a day in two pieces), as one figure; nil when no sample counts. The
    /// ranges must be in order and not overlap.
    public func total(in ranges: [Range<Instant>]) -> Double? {
        sums(in: ranges, into: 1) { _ in 0 }.first ?? nil
    }

    /// How many samples overlap these ranges, including samples of sources that are covered by others.
    public func count(in ranges: [Range<Instant>]) -> Int {
        let ranges = ranges.map(\.microseconds)
        return starts.indices.count { hasPart($0, in: ranges) }
    }

    /// - Parameter ranges: microseconds since 1970.
    func hasPart(_ row: Int, in ranges: [Range<Int64>]) -> Bool {
        ranges.contains { $0.lowerBound < ends[row] && starts[row] < $0.upperBound || $0.contains(starts[row]) }
    }

    private func sums(in buckets: [Range<Instant>], into slots: Int, slot: (Int) -> Int) -> [Double?] {
        var sums = Array(repeating: CompensatedSum(), count: slots)
        var counted = Array(repeating: false, count: slots)
        forEachPart(in: buckets.map(\.microseconds)) { bucket, _, value in
            sums[slot(bucket)].add(value)
            counted[slot(bucket)] = true
        }
        return zip(sums, counted).map { $1 ? $0.value : nil }
    }

    /// Calls `body`, in canonical order, with the bucket, the row and the amount that the row adds to it.
    /// - Parameter buckets: microseconds since 1970.
    func forEachPart(in buckets: [Range<Int64>], instants: Bool = true, _ body: (Int, Int, Double) -> Void) {
        var first = 0
        for row in starts.indices {
            let start = starts[row]
            let end = ends[row]
            // Starts never decrease, so buckets that end before this start are finished.
            while first < buckets.count, buckets[first].upperBound <= start { first += 1 }
            if first == buckets.count { return }
            if start == end {
                if instants, buckets[first].contains(start), !isCovered(row) { body(first, row, values[row]) }
                continue
            }
            let own = coverage[Int(groups[row])]
            let duration = Double(end - start)
            var bucket = first
            while bucket < buckets.count, buckets[bucket].lowerBound < end {
                let part = buckets[bucket].clamped(to: start..<end)
                let counted = own.length(part.lowerBound, part.upperBound)
                if counted > 0 {
                    body(bucket, row, counted == end - start ? values[row] : values[row] * (Double(counted) / duration))
                }
                bucket += 1
            }
        }
    }

    /// Whether a source of higher priority has a sample with a duration at the row's start.
    func isCovered(_ row: Int) -> Bool {
        let group = Int(groups[row])
        // At each instant, the first source with samples there is the one that counts.
        return (0..<group).contains { coverage[$0].contains(starts[row]) }
    }
}
