import HealthModel

/// Walks over the starts and ends of samples in order, and reports which sources have a sample in each stretch between
/// them.
struct Sweep {
    /// Microseconds since 1970, in order.
    let starts: [Int64]
    let ends: [Int64]
    let groups: [Int32]
    let sources: Int

    /// Calls `body` once for each stretch in which the set of active sources stays the same; stretches without any
    /// active source are left out.
    func run(_ body: (Int64, Int64, ActiveSources) -> Void) {
        let ending = ends.indices.sorted { ends[$0] < ends[$1] }
        var active = ActiveSources(count: sources)
        var since: Int64 = 0
        var nextStart = 0
        var nextEnd = 0
        while nextEnd < ending.count {
            let isStart = nextStart < starts.count && starts[nextStart] <= ends[ending[nextEnd]]
            let row = isStart ? nextStart : ending[nextEnd]
            if isStart { nextStart += 1 } else { nextEnd += 1 }
            // Samples without duration cover nothing.
            guard starts[row] < ends[row] else { continue }
            let at = isStart ? starts[row] : ends[row]
            let group = Int(groups[row])
            // Each stretch is reported before the set changes, so that the set needn't be copied.
            if active.count(of: group) == (isStart ? 0 : 1) {
                if since < at, active.first != nil { body(since, at, active) }
                since = at
            }
            if isStart { active.begin(group) } else { active.end(group) }
        }
    }

    /// The same with the sums of sources that the user put in order, which leave no time to the sources below them.
    func with(_ sums: [LongSum]) -> Sweep {
        let taken = sums.filter { $0.isCompared && $0.isChosen }.flatMap { sum in sum.ranges.map { ($0, sum.group) } }
        guard !taken.isEmpty else { return self }
        let all =
            zip(zip(starts, ends), groups).map { (start: $0.0, end: $0.1, group: $1) }
            + taken.map { (start: $0.lowerBound, end: $0.upperBound, group: Int32($1)) }
        let ordered = all.sorted { $0.start < $1.start }
        return Sweep(
            starts: ordered.map(\.start), ends: ordered.map(\.end), groups: ordered.map(\.group), sources: sources)
    }
}
