import HealthModel

/// The rule for overlapping sources, applied second by second: a simple method, and a different one from the merge
/// under test.
struct GridMerge {
    let rows: [PageBuilder.Row]
    /// The priority of each row; 0 is the highest.
    let priorities: [Int]
    /// By priority and second: the number of samples, and how much they add in that second.
    private var counts: [[Int]]
    private var rates: [[Double]]

    /// - Parameters:
    ///   - rows: must begin and end on whole seconds within `0..<seconds`.
    ///   - sources: names in order of priority; manual entries take precedence over all of them.
    init(rows: [PageBuilder.Row], sources: [String], seconds: Int) {
        let byHand = Set(rows.filter { $0.flags.contains(.userEntered) }.map(\.source)).sorted()
        self.rows = rows
        priorities = rows.map { row in
            row.flags.contains(.userEntered)
                ? byHand.firstIndex(of: row.source) ?? 0
                : byHand.count + (sources.firstIndex(of: row.source) ?? sources.count)
        }
        counts = Array(repeating: Array(repeating: 0, count: seconds), count: byHand.count + sources.count)
        rates = Array(repeating: Array(repeating: 0, count: seconds), count: byHand.count + sources.count)
        for (row, priority) in zip(rows, priorities) where row.start < row.end {
            for second in Int(row.start / Instant.microsecondsPerSecond)..<Int(row.end / Instant.microsecondsPerSecond)
            {
                counts[priority][second] += 1
                rates[priority][second] += row.value / Duration.microseconds(row.end - row.start).seconds
            }
        }
    }

    /// The sums for buckets that are given in whole seconds; nil if nothing counts.
    func sums(_ buckets: [Range<Int>]) -> [Double?] {
        buckets.map { bucket in
            var sum: Double?
            for second in bucket {
                guard let first = counts.indices.first(where: { counts[$0][second] > 0 }) else { continue }
                sum = (sum ?? 0) + rates[first][second]
            }
            for (row, priority) in zip(rows, priorities) where row.start == row.end {
                let second = Int(row.start / Instant.microsecondsPerSecond)
                let isCovered = counts[..<priority].contains { $0[second] > 0 }
                if bucket.contains(second), !isCovered { sum = (sum ?? 0) + row.value }
            }
            return sum
        }
    }
}
