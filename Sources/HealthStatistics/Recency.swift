import HealthModel

/// What decides which of several samples is the latest: the later start, then the later end, then the later creation,
/// then the greater value. Ids and the order of arrival never decide, because they say nothing about the samples.
struct Recency: Comparable {
    var start: Int64
    var end: Int64
    /// Seconds since 1970; an unknown creation (0) counts as the earliest.
    var created: Int64
    var value: Double

    static func < (a: Recency, b: Recency) -> Bool {
        (a.start, a.end, a.created, a.value) < (b.start, b.end, b.created, b.value)
    }
}

extension SamplePage {
    func recency(_ row: Int) -> Recency {
        Recency(
            start: start[row], end: end[row], created: created.indices.contains(row) ? created[row] : 0,
            value: value[row])
    }

    /// These rows with the latest last. Rows in canonical order are nearly always in this order already.
    func latestLast(_ rows: [Int]) -> [Int] {
        func precedes(_ a: Int, _ b: Int) -> Bool { recency(a) < recency(b) }
        for (a, b) in zip(rows, rows.dropFirst()) where precedes(b, a) { return rows.sorted(by: precedes) }
        return rows
    }
}
