import HealthModel

/// A day's sums of a cumulative type whose sources overlap; each instant is counted for one source only.
///
/// A sample's value is spread evenly over its time. Where sources overlap, only the source with the highest priority
/// counts, and the others count only in the remaining time. Overlapping samples of one source all count. A sample
/// without duration counts in full unless a source of higher priority covers that instant with a sample that has a
/// duration. A sample that spans several buckets is divided among them in proportion. Values are added in canonical
/// order (start, id) with compensation, so that figures don't depend on the order of arrival.
///
/// A sum that an app made over four hours or more counts only with what it has beyond all finer samples within its
/// span, whatever the order of sources: an entry by hand, or a source that the user put in order, is the exception (see
/// `docs/figures.md`).
///
/// Cost: The cost is O(n log n) for n samples from a handful of sources, however much they overlap.
public struct CumulativeMerge: Sendable {
    /// Microseconds since 1970, as in the page. These columns have all samples except long sums.
    let starts: [Int64]
    let ends: [Int64]
    let values: [Double]
    let groups: [Int32]
    let names: [String]
    /// For each source, the time in which it counts.
    let coverage: [Coverage]
    /// In the order in which they were compared with what counts already.
    private(set) var longSums: [LongSum] = []

    /// - Parameters:
    ///   - rows: rows of one type in canonical order, as returned by `SamplePage.rows(of:)`; those without a number are
    ///     left out.
    ///   - order: the priority of sources.
    ///   - window: the day, as `DayInput.window`: a sum of many hours counts with its share of the day.
    public init(_ page: SamplePage, rows: [Int], order: SourceOrder = SourceOrder(), in window: [Range<Instant>]) {
        var rows = rows.filter { page.value[$0].isFinite && page.start[$0] <= page.end[$0] }
        var sources = SourceGroups(page, rows: rows, order: order)
        let window = window.map(\.microseconds)
        let found = LongSum.rows(page, rows, sources, window: window)
        var sums: [LongSum] = []
        if found.isEmpty {
            groups = sources.ofRow
        } else {
            sources.setApart(found, order: order)
            sums = LongSum.inOrder(
                found.map { LongSum(page, rows[$0], Int(sources.ofRow[$0]), sources, order, window: window) })
            let isSum = Set(found)
            let others = rows.indices.filter { !isSum.contains($0) }
            groups = others.map { sources.ofRow[$0] }
            rows = others.map { rows[$0] }
        }
        starts = rows.map { page.start[$0] }
        ends = rows.map { page.end[$0] }
        values = rows.map { page.value[$0] }
        names = sources.sources.map(\.label)
        var coverage = Array(repeating: Coverage(), count: names.count)
        Sweep(starts: starts, ends: ends, groups: groups, sources: names.count).with(sums).run { start, end, active in
            if let first = active.first { coverage[first].append(start, end) }
        }
        self.coverage = coverage
        for sum in sums { count(sum) }
    }

    /// Counts of a sum what it has beyond all that counts already in its time.
    private mutating func count(_ sum: LongSum) {
        var (sum, others, isAlone) = (sum, CompensatedSum(), true)
        if sum.isCompared {
            forEachPart(in: sum.ranges) { _, _, value in
                others.add(value)
                isAlone = false
            }
            sum.count(beyond: isAlone ? nil : others.value)
        }
        longSums.append(sum)
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
        return starts.indices.count { ranges.meet(starts[$0], ends[$0]) }
            + longSums.count { ranges.meet($0.start, $0.end) }
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

    /// Calls `body` with the bucket, the source and the amount that a sample adds to it: in canonical order, and then
    /// for the long sums.
    /// - Parameter buckets: microseconds since 1970.
    func forEachPart(in buckets: [Range<Int64>], _ body: (Int, Int, Double) -> Void) {
        forEachSample(in: buckets, body)
        for sum in longSums where sum.counts {
            for bucket in buckets.indices {
                if let amount = sum.part(in: buckets[bucket]) { body(bucket, sum.group, amount) }
            }
        }
    }

    /// The same for samples that aren't long sums.
    func forEachSample(in buckets: [Range<Int64>], instants: Bool = true, _ body: (Int, Int, Double) -> Void) {
        var first = 0
        for row in starts.indices {
            let start = starts[row]
            let end = ends[row]
            // Starts never decrease, so buckets that end before this start are finished.
            while first < buckets.count, buckets[first].upperBound <= start { first += 1 }
            if first == buckets.count { return }
            if start == end {
                if instants, buckets[first].contains(start), !isCovered(row) {
                    body(first, Int(groups[row]), values[row])
                }
                continue
            }
            let group = Int(groups[row])
            let own = coverage[group]
            let duration = Double(end - start)
            var bucket = first
            while bucket < buckets.count, buckets[bucket].lowerBound < end {
                let part = buckets[bucket].clamped(to: start..<end)
                let counted = own.length(part.lowerBound, part.upperBound)
                if counted > 0 {
                    body(
                        bucket, group,
                        counted == end - start ? values[row] : values[row] * (Double(counted) / duration))
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
