/// Dirty days in the order in which they are computed, so that the next one is found without searching, since a long
/// history has tens of thousands.
///
/// The queue only orders the days; the marks are authoritative. A day without a mark is no longer dirty, even if it is
/// still in the queue.
struct DayQueue {
    /// The next day to compute is last.
    private var sorted: [DirtyDays.Key] = []
    /// Days added since the last sort.
    private var added: [DirtyDays.Key] = []
    private var soon = Int.min

    mutating func add(_ key: DirtyDays.Key) { added.append(key) }

    mutating func next(
        _ marks: [DirtyDays.Key: DirtyDays.Mark], besides busy: Set<DirtyDays.Key>, soon: Int
    ) -> DirtyDays.Key? {
        func waits(_ key: DirtyDays.Key) -> Bool { marks[key] != nil && !busy.contains(key) }
        // Sorting costs more the more days there are. So it is done only when many have been added, or the date has
        // changed.
        if added.count > 256 + sorted.count / 4 || self.soon != soon {
            self.soon = soon
            sorted = marks.keys.sorted { Self.precedes($0, $1, marks, soon) }
            added = []
        }
        while let last = sorted.last, marks[last] == nil { sorted.removeLast() }
        added.removeAll { marks[$0] == nil }
        // Only a few days are being computed, and they are together at the end.
        let first = sorted.last(where: waits)
        let other = added.filter(waits).max { Self.precedes($0, $1, marks, soon) }
        guard let first, let other else { return first ?? other }
        return Self.precedes(first, other, marks, soon) ? other : first
    }

    /// Whether the first is computed after the second.
    private static func precedes(
        _ a: DirtyDays.Key, _ b: DirtyDays.Key, _ marks: [DirtyDays.Key: DirtyDays.Mark], _ soon: Int
    ) -> Bool {
        func rank(_ key: DirtyDays.Key) -> Int {
            guard let mark = marks[key], mark.since != DirtyDays.behindEverything else { return 0 }
            return key.day <= soon ? 2 : 1
        }
        let ranks = (rank(a), rank(b))
        return ranks.0 == ranks.1 ? (a.day, a.user) < (b.day, b.user) : ranks.0 < ranks.1
    }
}
