import HealthModel

/// The rule of overlapping sources, second by second: slow and of another kind than the merge under test.
struct GridMerge {
    let rows: [PageBuilder.Row]
    /// First counts first.
    let sources: [String]

    /// The sums of buckets given in whole seconds; nil where nothing counts.
    func sums(_ buckets: [Range<Int>]) -> [Double?] {
        buckets.map { bucket in
            var sum: Double?
            for second in bucket {
                let instant = Instant(second) * Instant.second
                let covering = rows.filter { $0.start <= instant && instant < $0.end }
                guard let first = covering.map({ priority($0.source) }).min() else { continue }
                for row in covering where priority(row.source) == first {
                    sum = (sum ?? 0) + row.value / (row.end - row.start).seconds
                }
            }
            for row in rows where row.start == row.end && bucket.contains(Int(row.start / Instant.second)) {
                let isCovered = rows.contains {
                    $0.start <= row.start && row.start < $0.end && priority($0.source) < priority(row.source)
                }
                if !isCovered { sum = (sum ?? 0) + row.value }
            }
            return sum
        }
    }

    private func priority(_ source: String) -> Int { sources.firstIndex(of: source) ?? sources.count }
}
