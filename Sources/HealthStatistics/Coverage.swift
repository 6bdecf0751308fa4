import HealthModel

/// The time in which one source counts: disjoint stretches in order, with the length up to each, so that the covered part of any
/// interval is two binary searches.
struct Coverage: Sendable {
    private(set) var starts: [Instant] = []
    private(set) var ends: [Instant] = []
    private var before: [Instant] = []

    mutating func append(_ start: Instant, _ end: Instant) {
        if let last = ends.last, last == start {
            ends[ends.count - 1] = end
            return
        }
        before.append((before.last ?? 0) + (starts.last.map { ends[ends.count - 1] - $0 } ?? 0))
        starts.append(start)
        ends.append(end)
    }

    /// Microseconds of `start..<end` that lie in the stretches.
    func length(_ start: Instant, _ end: Instant) -> Instant { length(upTo: end) - length(upTo: start) }

    func contains(_ instant: Instant) -> Bool {
        let index = lastStart(atOrBefore: instant)
        return index >= 0 && instant < ends[index]
    }

    private func length(upTo instant: Instant) -> Instant {
        let index = lastStart(atOrBefore: instant)
        return index < 0 ? 0 : before[index] + min(instant, ends[index]) - starts[index]
    }

    private func lastStart(atOrBefore instant: Instant) -> Int {
        var low = 0
        var high = starts.count
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= instant { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }
}
