import HealthModel

/// A discrete type's samples as `HeldSamples` sees them: from when until when each one holds, before sources are
/// compared.
struct Readings {
    /// Parts of readings in order of time; no two overlap.
    struct Pieces {
        private(set) var reading: [Int32] = []
        private(set) var start: [Int64] = []
        private(set) var end: [Int64] = []
        /// The first range of the window that isn't over yet.
        private var place = 0

        init(count: Int) {
            reading.reserveCapacity(count)
            start.reserveCapacity(count)
            end.reserveCapacity(count)
        }

        /// Adds a part of a reading, as far as it is within a window.
        mutating func add(_ new: Int, _ from: Int64, _ to: Int64, within: [Range<Int64>]) {
            while place < within.count, within[place].upperBound <= from { place += 1 }
            var part = place
            while part < within.count, within[part].lowerBound < to {
                let (since, until) = (max(from, within[part].lowerBound), min(to, within[part].upperBound))
                let last = reading.count - 1
                if last >= 0, end[last] == since, reading[last] == Int32(new) {
                    end[last] = until
                } else {
                    reading.append(Int32(new))
                    start.append(since)
                    end.append(until)
                }
                part += 1
            }
        }

        mutating func append(_ more: Pieces) {
            reading += more.reading
            start += more.start
            end += more.end
        }
    }

    // Columns, in order of start. Of several that start together, only the latest of each source is there.
    private(set) var row: [Int32] = []
    private(set) var start: [Int64] = []
    /// Until when it holds.
    private(set) var end: [Int64] = []
    private(set) var source: [Int32] = []
    /// Whether all readings of a source last over an hour, without the time after their end.
    private var isCoarse: [Bool] = []
    var hasCoarse: Bool { isCoarse.contains(true) }
    /// The same source's next reading; -1 if there is none.
    private var next: [Int32] = []
    private let sources: Int

    private static let hour = 3600 * Instant.microsecondsPerSecond

    /// - Parameter rows: in canonical order.
    init(_ page: SamplePage, rows: [Int], order: SourceOrder, _ hold: HeldSamples.Hold) {
        let groups = SourceGroups(page, rows: rows, order: order)
        sources = groups.sources.count
        var last = [Int32](repeating: -1, count: sources)
        row.reserveCapacity(rows.count)
        start.reserveCapacity(rows.count)
        end.reserveCapacity(rows.count)
        source.reserveCapacity(rows.count)
        for (new, group) in zip(rows, groups.ofRow) where page.value[new].isFinite {
            let before = Int(last[Int(group)])
            if before >= 0, start[before] == page.start[new] {
                if page.recency(Int(row[before])) < page.recency(new) {
                    row[before] = Int32(new)
                    end[before] = max(page.start[new], page.end[new])
                }
                continue
            }
            last[Int(group)] = Int32(row.count)
            row.append(Int32(new))
            start.append(page.start[new])
            end.append(max(page.start[new], page.end[new]))
            source.append(group)
        }
        isCoarse = [Bool](repeating: true, count: sources)
        next = [Int32](repeating: -1, count: row.count)
        letHold(page, hold)
    }

    /// Lets each reading hold beyond its end, or end with the next one of its source.
    private mutating func letHold(_ page: SamplePage, _ hold: HeldSamples.Hold) {
        let longest = HeldSamples.longest.microseconds
        var last = [Int32](repeating: -1, count: sources)
        // The longest gap between different readings, by source; -1 if there is none.
        var gaps = [Int64](repeating: -1, count: sources)
        for reading in row.indices {
            let group = Int(source[reading])
            defer { last[group] = Int32(reading) }
            guard last[group] >= 0 else { continue }
            let before = Int(last[group])
            next[before] = Int32(reading)
            let gap = start[reading] - end[before]
            // Equal neighbours are as good as one sample, so the gaps between them say nothing.
            if gap > longest || page.value[Int(row[reading])] != page.value[Int(row[before])] {
                gaps[group] = max(gaps[group], gap, 0)
            }
            if min(end[before], start[reading]) - start[before] <= Self.hour { isCoarse[group] = false }
            end[before] = min(start[reading], end[before] + limit(before, page, hold))
        }
        for (group, reading) in last.enumerated() where reading >= 0 {
            let reading = Int(reading)
            if end[reading] - start[reading] <= Self.hour { isCoarse[group] = false }
            let limit = limit(reading, page, hold)
            end[reading] += hold.keepsPace && gaps[group] >= 0 ? min(limit, gaps[group]) : limit
        }
    }

    /// How long a reading may hold after its end.
    private func limit(_ reading: Int, _ page: SamplePage, _ hold: HeldSamples.Hold) -> Int64 {
        guard start[reading] < end[reading] else { return hold.instant }
        return page.flags[Int(row[reading])].contains(.statistics) ? 0 : hold.lasting
    }

    /// The parts of readings in which their source has priority.
    /// - Parameters:
    ///   - coarse: whether to take the sources whose readings all last over an hour, or the others.
    ///   - taken: time that doesn't count; in order and disjoint, like `within`.
    func pieces(coarse: Bool, besides taken: [Range<Int64>], within: [Range<Int64>]) -> Pieces {
        var found = Pieces(count: row.count)
        if taken.isEmpty, sources == 1 {
            for reading in row.indices where isCoarse[0] == coarse && start[reading] < end[reading] {
                found.add(reading, start[reading], end[reading], within: within)
            }
            return found
        }
        let chosen = row.indices.filter { isCoarse[Int(source[$0])] == coarse && start[$0] < end[$0] }
        var cursor = [Int](repeating: -1, count: sources)
        for reading in chosen.reversed() { cursor[Int(source[reading])] = reading }
        var starts = chosen.map { start[$0] }
        var ends = chosen.map { end[$0] }
        // What is taken comes first, like a source of its own.
        var groups = chosen.map { source[$0] + 1 }
        if !taken.isEmpty {
            starts += taken.map(\.lowerBound)
            ends += taken.map(\.upperBound)
            groups += taken.map { _ in 0 }
            let sorted = starts.indices.sorted { starts[$0] < starts[$1] }
            (starts, ends, groups) = (sorted.map { starts[$0] }, sorted.map { ends[$0] }, sorted.map { groups[$0] })
        }
        Sweep(starts: starts, ends: ends, groups: groups, sources: sources + 1).run { since, at, active in
            guard let first = active.first, first > 0 else { return }
            var reading = cursor[first - 1]
            while reading >= 0, start[reading] < at {
                if end[reading] > since {
                    found.add(reading, max(since, start[reading]), min(at, end[reading]), within: within)
                }
                // It may go on after this stretch.
                if end[reading] >= at { break }
                reading = Int(next[reading])
            }
            cursor[first - 1] = reading
        }
        return found
    }
}
