import HealthModel
import Protocol
import Terminal

/// What is known about a user's samples of one type: the dates on which there are any, and how many came late.
package struct TypeDays: Sendable {
    package struct Late: Sendable, Equatable {
        package var count: Int64
        /// The longest time in seconds from a sample's end until HealthKit stored it.
        package var longest: Int64

        package init(count: Int64 = 0, longest: Int64 = 0) { (self.count, self.longest) = (count, longest) }

        package static func + (a: Late, b: Late) -> Late {
            Late(count: a.count + b.count, longest: max(a.longest, b.longest))
        }

        package var value: Value { ["count": .integer(count), "longestSeconds": .integer(longest)] }
    }

    /// Stretches where samples of one source cover the same time, and no export has them together.
    package struct Overlaps: Sendable, Equatable {
        package var stretches: Int
        package var first: LocalDay
        package var last: LocalDay

        package init(stretches: Int, first: LocalDay, last: LocalDay) {
            (self.stretches, self.first, self.last) = (stretches, first, last)
        }

        /// - Parameter zones: those of the samples' user.
        package init(_ reported: TypeDaysRow.Overlaps, _ zones: ZoneTimeline) {
            self.init(
                stretches: Int(reported.stretches), first: zones.day(of: reported.first),
                last: zones.day(of: reported.last))
        }

        package var value: Value {
            [
                "stretches": Value(stretches), "firstDay": .string(first.description),
                "lastDay": .string(last.description),
            ]
        }

        /// One line about a type.
        package func text(_ type: String) -> String {
            let when = first == last ? "on \(first)" : "from \(first) to \(last)"
            return
                "\(TypeName.bare(type)) overlap: \(HumanFormat.count(stretches, "stretch", "stretches")) where "
                + "samples of one source cover the same time but no export has them together, \(when): both count"
        }
    }

    package var user: String
    package var type: String
    package var samples: Int64
    package var firstStart: Instant?
    package var lastEnd: Instant?
    package var days: DayRuns
    /// By the date on which the samples start, in days since 1970.
    var lateDays: [(day: Int32, late: Late)]
    package let overlaps: TypeDaysRow.Overlaps?

    /// Nil when the columns don't match.
    init?(_ row: TypeDaysRow) {
        let (runs, day) = (row.runs, row.lateDay)
        guard runs.count.isMultiple(of: 2), day.count == row.lateCount.count, day.count == row.lateLongest.count else {
            return nil
        }
        (user, type, samples) = (row.user, row.type, row.samples)
        (firstStart, lastEnd, overlaps) = (row.firstStart, row.lastEnd, row.overlaps)
        var ranges: [ClosedRange<Int>] = []
        for index in stride(from: 0, to: runs.count, by: 2) {
            guard runs[index] <= runs[index + 1] else { return nil }
            ranges.append(Int(runs[index])...Int(runs[index + 1]))
        }
        days = DayRuns(ranges)
        lateDays = day.indices.map { (day[$0], Late(count: Int64(row.lateCount[$0]), longest: row.lateLongest[$0])) }
    }

    /// Adds the columns of the next page.
    mutating func append(_ more: TypeDays) {
        days = days.union(more.days)
        lateDays += more.lateDays
    }

    /// The late samples among those that start on these dates.
    package func late(from: LocalDay? = nil, to: LocalDay? = nil) -> Late {
        let bounds = (from?.number ?? .min, to?.number ?? .max)
        return lateDays.reduce(Late()) { sum, entry in
            Int(entry.day) >= bounds.0 && Int(entry.day) <= bounds.1 ? sum + entry.late : sum
        }
    }
}

extension DayRuns {
    /// The members about gaps in `check --json` and `status --json`.
    package var value: [String: Value] {
        [
            "firstDay": Value(first?.description), "lastDay": Value(last?.description), "daysWithSamples": Value(count),
            "gapDays": Value(gaps.reduce(0) { $0 + $1.count }), "gaps": Value(gaps.count),
            "longestGap": longestGap.map { Self.value(of: $0) } ?? .null, "medianDistanceDays": Value(medianDistance),
            "usuallyDaily": .bool(isUsuallyDaily),
        ]
    }

    package static func value(of gap: ClosedRange<Int>) -> Value {
        [
            "from": .string(LocalDay(number: gap.lowerBound).description),
            "to": .string(LocalDay(number: gap.upperBound).description), "days": Value(gap.count),
        ]
    }

    /// "2025-03-02 to 2025-03-04, 3 days".
    package static func text(of gap: ClosedRange<Int>) -> String {
        let first = LocalDay(number: gap.lowerBound)
        if gap.count == 1 { return "\(first), 1 day" }
        return "\(first) to \(LocalDay(number: gap.upperBound)), \(HumanFormat.count(gap.count, "day"))"
    }
}
