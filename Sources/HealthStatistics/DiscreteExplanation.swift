import HealthModel

/// What an average or a latest value was computed from, by source.
package struct DiscreteExplanation: Sendable {
    package struct Sample: Sendable, Equatable {
        package var start: Instant
        package var end: Instant
        package var value: Double
        package var source: String
    }

    package struct Source: Sendable {
        package var name: String
        package var statistics: DiscreteStatistics
        /// The sum of the samples' durations.
        package var time: Duration
    }

    /// The statistics of all samples together, as in the figure, which doesn't merge sources.
    package let all: DiscreteStatistics
    package let time: Duration
    /// Highest priority first.
    package let sources: [Source]
    /// The latest last; of equal ones, the one whose source has the highest priority.
    package let samples: [Sample]
    package var latest: Sample? { samples.last }

    /// Whether samples are weighted by duration; otherwise all have the same weight.
    package var isWeighted: Bool { time > .zero && all.style != .arithmetic && all.style != .none }

    /// Explains the rows that start in these ranges; rows are in canonical order.
    package init(
        _ page: SamplePage, rows: [Int], style: HealthType.Style, order: SourceOrder, in ranges: [Range<Instant>]
    ) {
        let rows = rows.filter { row in
            page.value[row].isFinite && ranges.contains { $0.contains(page.startOf(row)) }
        }
        let groups = SourceGroups(page, rows: rows, order: order)
        var all = DiscreteStatistics(style: style)
        var sources = groups.sources.map {
            Source(name: $0.label, statistics: DiscreteStatistics(style: style), time: .zero)
        }
        var time = Duration.zero
        for (row, group) in zip(rows, groups.ofRow) {
            all.add(page, row)
            sources[Int(group)].statistics.add(page, row)
            let length = page.endOf(row) - page.startOf(row)
            sources[Int(group)].time += length
            time += length
        }
        self.all = all
        self.time = time
        self.sources = sources
        let inOrder = zip(rows, groups.ofRow).sorted { a, b in
            let (first, second) = (page.recency(a.0), page.recency(b.0))
            return first == second ? a.1 > b.1 : first < second
        }
        samples = inOrder.map { row, group in
            Sample(
                start: page.startOf(row), end: page.endOf(row), value: page.value[row], source: sources[Int(group)].name
            )
        }
    }
}
