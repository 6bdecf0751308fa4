import HealthModel

/// Finds the samples of one second that only their creation distinguishes: those of one type with the same times but
/// different values. The latest of them is the one stored last.
struct SliceTies {
    private struct Seen {
        var type: Int
        var start: Int64
        var end: Int64
        var value: Double

        func hasTimes(of other: Seen) -> Bool { (type, start, end) == (other.type, other.start, other.end) }
    }

    private var seen: [Seen] = []
    private var tied: [Seen] = []

    /// Forgets the samples of the second before.
    mutating func begin() {
        seen.removeAll(keepingCapacity: true)
        tied.removeAll(keepingCapacity: true)
    }

    /// Notes a sample, even if its page has been sent before.
    mutating func note(_ row: StoredRow, end: Int64) {
        seen.append(Seen(type: row.type, start: row.start, end: end, value: row.value))
    }

    /// Called once all samples of the second are noted. Nearly always there is only one.
    mutating func settle() {
        guard seen.count > 1 else { return }
        seen.sort { ($0.type, $0.start, $0.end) < ($1.type, $1.start, $1.end) }
        for (one, next) in zip(seen, seen.dropFirst())
        where one.hasTimes(of: next) && !StoredValue.isSame(one.value, next.value)
            && tied.last?.hasTimes(of: one) != true
        {
            tied.append(one)
        }
    }

    func contains(_ row: StoredRow, end: Int64) -> Bool {
        // In order, but there are seldom more than a few.
        if tied.isEmpty { return false }
        let wanted = (row.type, row.start, end)
        let index = tied.firstPlace(behind: { ($0.type, $0.start, $0.end) < wanted })
        return index < tied.count && (tied[index].type, tied[index].start, tied[index].end) == wanted
    }
}
