import HealthModel

/// The time in which one source counts. It consists of disjoint stretches in order, each with the total length up to
/// it, so that two binary searches give the covered part of any interval. Times are plain microseconds, since this is
/// used for every sample.
struct Coverage: Sendable {
    private(set) var starts: [Int64] = []
    private(set) var ends: [Int64] = []
    private var before: [Int64] = []

    mutating func append(_ start: Int64, _ end: Int64) {
        if let last = ends.last, last == start {
            ends[ends.count - 1] = end
            return
        }
        before.append((before.last ?? 0) + (starts.last.map { ends[ends.count - 1] - $0 } ?? 0))
        starts.append(start)
        ends.append(end)
    }

    /// How many microseconds of `start..<end` are within the stretches.
    func length(_ start: Int64, _ end: Int64) -> Int64 { length(upTo: end) - length(upTo: start) }

    func contains(_ instant: Int64) -> Bool {
        let index = lastStart(atOrBefore: instant)
        return index >= 0 && instant < ends[index]
    }

    private func length(upTo instant: Int64) -> Int64 {
        let index = lastStart(atOrBefore: instant)
        return index < 0 ? 0 : before[index] + min(instant, ends[index]) - starts[index]
    }

    private func lastStart(atOrBefore instant: Int64) -> Int {
        starts.firstPlace(behind: { $0 <= instant }) - 1
    }
}
