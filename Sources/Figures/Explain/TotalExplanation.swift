import HealthModel
import HealthStatistics
import Inspection
import Terminal

/// A total explained interval by interval: which source counted, and what it added.
struct TotalExplanation: Explanation {
    let unit: String
    let result: Double?
    let intervals: [MergeInterval]
    let shares: [MergeShare]
    let hours: [(range: Range<Instant>, sum: Double?, parts: [MergeInterval])]

    /// Neighbouring intervals with the same sources are shown as one if the gap between them is shorter than this.
    private static let gap = Duration.seconds(1800)

    init(_ type: String, unit: String, _ input: DayInput) {
        self.unit = unit
        let hours = input.zones.hours(of: input.day)
        guard let merge = input.merge(type) else {
            (result, intervals, shares, self.hours) = (nil, [], [], [])
            return
        }
        result = merge.total(in: input.window)
        intervals = merge.intervals(in: input.window)
        shares = merge.shares(in: input.window)
        self.hours = zip(hours, merge.sums(in: hours)).map { range, sum in
            (range, sum, MergeInterval.bySource(merge.intervals(in: [range])))
        }
    }

    private var hasInstants: Bool { intervals.contains { $0.start == $0.end } }
    private var hasSpans: Bool { intervals.contains { $0.start < $0.end } }

    /// Mentions only what the day has: an event entered by hand has no time to be spread over.
    var rule: String {
        guard hasSpans || !hasInstants else { return "Each sample is an instant, and counts in full." }
        let spans =
            "At each instant only the first source counts, in the order in which the sources are listed; a sample is spread evenly over its time."
        let instants = " A sample that is an instant counts in full, unless a source above it covers that instant."
        let sums = " A sum over many hours adds only what it has beyond everything else in its time."
        return spans + (hasInstants ? instants : "") + (shares.contains(where: \.isSums) ? sums : "")
    }

    var members: [String: Value] {
        [
            "sources": .array(
                shares.map {
                    [
                        "source": .string($0.source), "amount": .number($0.amount), "samples": Value($0.samples),
                        "countedSeconds": .number($0.counted.seconds),
                    ]
                }),
            "intervals": .array(intervals.map(\.value)),
            "hours": .array(
                hours.map { hour in
                    [
                        "start": .string(InstantText.iso8601(hour.range.lowerBound)),
                        "end": .string(InstantText.iso8601(hour.range.upperBound)), "amount": Value(hour.sum),
                        "sources": .object(Dictionary(hour.parts.map { ($0.counted, .number($0.amount)) }) { $1 }),
                    ]
                }),
        ]
    }

    func tables(_ shown: ExplainOptions, _ clock: DayClock) -> [ExplainTable] {
        let sum = "Sum: \(result.map { ShownNumber.exact($0) } ?? "nothing") \(unit)"
        if shown.byHour { return [sources, ExplainTable(table: byHour(clock), footer: sum)] }
        let lines =
            shown.all ? intervals.map { ($0, $0.end - $0.start) } : MergeInterval.joined(intervals, gap: Self.gap)
        // Instants take no time, and cover nothing.
        let time: [Table.Column] = hasSpans ? [.number("Time", givesWay: 1)] : []
        let covered: [Table.Column] = hasSpans ? [.init("Covered")] : []
        var table = Table(
            [.init("From"), .init("To")] + time + [.number("Adds"), .init("Counted")] + covered)
        for (interval, length) in lines {
            table.add(
                [clock.time(interval.start), interval.end == interval.start ? "" : clock.end(interval.end)]
                    + time.map { _ in length == .zero ? "" : HumanFormat.duration(length) }
                    + [ShownNumber.short(interval.amount), interval.counted]
                    + covered.map { _ in interval.covered.joined(separator: ", ") })
        }
        return [sources, ExplainTable(table: table, rowsOnScreen: 40, footer: sum)]
    }

    private var sources: ExplainTable {
        let time: [Table.Column] = hasSpans ? [.number("Counted for")] : []
        // A source that counts with instants only doesn't count for "0 s".
        let momentary = Set(intervals.filter { $0.start == $0.end }.map(\.counted))
        var table = Table([.init("Source"), .number("Added"), .number("Share"), .number("Samples")] + time)
        for share in shares {
            let isMomentary = share.counted == .zero && momentary.contains(share.source)
            table.add(
                [
                    share.source, ShownNumber.short(share.amount),
                    ShownNumber.percent(share.amount, of: result ?? 0), HumanFormat.count(share.samples),
                ] + time.map { _ in isMomentary ? "" : HumanFormat.duration(share.counted) })
        }
        return ExplainTable(table: table)
    }

    private func byHour(_ clock: DayClock) -> Table {
        var table = Table([.init("Hour"), .number("Adds"), .init("Of which")])
        for hour in hours {
            table.add([
                clock.time(hour.range.lowerBound), ShownNumber.short(hour.sum),
                hour.parts.map { "\($0.counted) \(ShownNumber.short($0.amount))" }.joined(separator: ", "),
            ])
        }
        return table
    }
}

extension MergeInterval {
    var value: Value {
        [
            "start": .string(InstantText.iso8601(start)), "end": .string(InstantText.iso8601(end)),
            "counted": .string(counted), "covered": .array(covered.map { .string($0) }), "amount": .number(amount),
        ]
    }

    /// For each source, one interval with the sum of all its intervals.
    static func bySource(_ intervals: [MergeInterval]) -> [MergeInterval] {
        var sums: [String: CompensatedSum] = [:]
        for interval in intervals { sums[interval.counted, default: CompensatedSum()].add(interval.amount) }
        return sums.sorted { $0.key < $1.key }.map { source, sum in
            MergeInterval(
                start: intervals.first?.start ?? .epoch, end: intervals.last?.end ?? .epoch, counted: source,
                covered: [],
                amount: sum.value)
        }
    }
}
