import HealthModel

/// Dates with data, as runs of consecutive dates. Pure.
package struct DayRuns: Sendable, Equatable {
    /// The runs, in days since 1970; they are in order, and never touch.
    package private(set) var runs: [ClosedRange<Int>]

    /// - Parameter runs: in any order; they may touch or overlap.
    package init(_ runs: [ClosedRange<Int>] = []) {
        self.runs = []
        for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = self.runs.last, run.lowerBound <= last.upperBound + 1 {
                self.runs[self.runs.count - 1] = last.lowerBound...max(last.upperBound, run.upperBound)
            } else {
                self.runs.append(run)
            }
        }
    }

    package var isEmpty: Bool { runs.isEmpty }
    package var first: LocalDay? { runs.first.map { LocalDay(number: $0.lowerBound) } }
    package var last: LocalDay? { runs.last.map { LocalDay(number: $0.upperBound) } }
    /// The number of dates with data.
    package var count: Int { runs.reduce(0) { $0 + $1.count } }

    package func union(_ other: DayRuns) -> DayRuns { DayRuns(runs + other.runs) }

    /// The dates between the bounds, both included.
    package func clamped(from: LocalDay?, to: LocalDay?) -> DayRuns {
        let (low, high) = (from?.number ?? .min, to?.number ?? .max)
        guard low <= high else { return DayRuns() }
        let bounds = low...high
        return DayRuns(runs.filter { $0.overlaps(bounds) }.map { $0.clamped(to: bounds) })
    }

    /// A stretch without data that is longer than this doesn't count as missing days: either the data before it has a
    /// wrong date, or it belongs to a separate history.
    private static let longestGapDays = 3653

    private var stretches: [ClosedRange<Int>] {
        zip(runs, runs.dropFirst()).map { $0.upperBound + 1...$1.lowerBound - 1 }
    }

    /// The dates without data between the first and the last, except stretches of more than ten years.
    package var gaps: [ClosedRange<Int>] { stretches.filter { $0.count <= Self.longestGapDays } }

    /// The last date before a stretch of more than ten years without data; nil if there is no such stretch.
    package var lastBeforeStretch: LocalDay? {
        stretches.last { $0.count > Self.longestGapDays }.map { LocalDay(number: $0.lowerBound - 1) }
    }

    /// The longest gap; if several are equally long, the latest.
    package var longestGap: ClosedRange<Int>? { gaps.reversed().max { $0.count < $1.count } }

    /// The median distance from one date with data to the next: 1 for daily data. Nil with fewer than two dates.
    package var medianDistance: Int? {
        let gaps = stretches.map { $0.count + 1 }.sorted()
        let distances = count - 1
        guard distances > 0 else { return nil }
        // All distances within a run are 1, and none is smaller.
        let middle = distances / 2
        let ones = distances - gaps.count
        return middle < ones ? 1 : gaps[middle - ones]
    }

    /// Whether there is data on most days, which means that the median gap is one day.
    package var isUsuallyDaily: Bool { medianDistance == 1 }
}
