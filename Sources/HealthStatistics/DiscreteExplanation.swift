import HealthModel

/// What an average or a latest value was computed from, by source.
package struct DiscreteExplanation: Sendable {
    package struct Sample: Sendable, Equatable {
        package var start: Instant
        package var end: Instant
        package var value: Double
        package var source: String
        /// The time for which it counts; zero if samples aren't weighted.
        package var time: Duration
    }

    package struct Source: Sendable {
        package var name: String
        package var statistics: DiscreteStatistics
        /// The time for which its samples count; zero if samples aren't weighted.
        package var time: Duration { .microseconds(statistics.time) }
    }

    /// The statistics of all samples together, as in the figure.
    package let all: DiscreteStatistics
    package var time: Duration { .microseconds(all.time) }
    /// Highest priority first.
    package let sources: [Source]
    /// The latest last; of equal ones, the one whose source has the highest priority.
    package let samples: [Sample]
    package var latest: Sample? { samples.last }

    /// Whether samples are weighted by time; otherwise all have the same weight.
    package var isWeighted: Bool { all.style.isWeighted }

    /// Explains the rows that start in these ranges; rows are in canonical order.
    package init(
        _ page: SamplePage, rows: [Int], style: HealthType.Style, order: SourceOrder, in ranges: [Range<Instant>]
    ) {
        let parts = ranges.map { range in
            (range, page.rows(rows, startingIn: range).filter { page.value[$0].isFinite })
        }
        let rows = parts.flatMap(\.1)
        let groups = SourceGroups(page, rows: rows, order: order)
        let group = Dictionary(uniqueKeysWithValues: zip(rows, groups.ofRow.map { Int($0) }))
        var all = DiscreteStatistics(style: style)
        var sources = groups.sources.map { Source(name: $0.label, statistics: DiscreteStatistics(style: style)) }
        var time: [Int: Int64] = [:]
        // In the same order as the figure's own sum, so that both agree to the last bit.
        for (range, own) in parts {
            for row in own {
                all.add(page, row)
                sources[group[row] ?? 0].statistics.add(page, row)
            }
            guard let held = style.held(page, rows: own, order: order, in: range) else { continue }
            held.forEach { all.weigh($0, $1) }
            for place in held.row.indices {
                let (row, length) = (Int(held.row[place]), held.end[place] - held.start[place])
                sources[group[row] ?? 0].statistics.weigh(page.value[row], length)
                time[row, default: 0] += length
            }
        }
        (self.all, self.sources) = (all, sources)
        let inOrder = zip(rows, groups.ofRow).sorted { a, b in
            let (first, second) = (page.recency(a.0), page.recency(b.0))
            return first == second ? a.1 > b.1 : first < second
        }
        samples = inOrder.map { row, group in
            Sample(
                start: page.startOf(row), end: page.endOf(row), value: page.value[row],
                source: sources[Int(group)].name, time: .microseconds(time[row] ?? 0))
        }
    }
}
