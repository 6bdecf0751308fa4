import Configuration
import HealthModel
import HealthStatistics
import Inspection
import Terminal

/// An average or a latest value: what each source contributes, and with what weight.
struct SampleExplanation: Explanation {
    let kind: ExplainedMetric.Kind
    let style: HealthType.Style
    let unit: String
    /// Whether people see its numbers as percentages.
    private let isFraction: Bool
    let parts: DiscreteExplanation
    let hours: [(range: Range<Instant>, statistics: DiscreteStatistics)]

    init(_ type: String, kind: ExplainedMetric.Kind, unit: String, _ input: DayInput) {
        (self.kind, self.unit) = (kind, unit)
        style = HealthType.named(type).style
        isFraction = HealthType.named(type).isFraction
        let rows = input.samples.rows(of: type)
        let order = input.sourceOrder(for: type)
        parts = DiscreteExplanation(input.samples, rows: rows, style: style, order: order, in: input.window)
        let hours = input.zones.hours(of: input.day)
        self.hours = Array(
            zip(hours, DiscreteStatistics.buckets(input.samples, rows: rows, style: style, order: order, in: hours)))
    }

    var result: Double? { kind == .latest ? parts.latest?.value : parts.all.average }

    var rule: String {
        if kind == .latest {
            return "The day's figure is its latest sample; a sample belongs to the day on which it starts."
        }
        let how =
            switch style {
            case .equivalentLevel:
                "the level of the mean sound energy over the time for which samples count: for as long as they last, or "
                    + "without duration until their source's next, at most a minute. \(Self.overlaps)"
            case .temporallyWeighted:
                "the mean over the time for which samples count: until their source's next, at most a minute after "
                    + "their end. \(Self.overlaps)"
            default: "each sample weighs the same."
            }
        return "All sources together, \(how) A sample belongs to the day on which it starts."
    }

    private static let overlaps = "Where sources overlap, the first in their order counts."

    /// A source's share of the average, 0 to 1.
    private func weight(_ source: DiscreteExplanation.Source) -> Double {
        parts.isWeighted
            ? Double(source.time.microseconds) / Double(parts.time.microseconds)
            : Double(source.statistics.count) / Double(parts.all.count)
    }

    var members: [String: Value] {
        [
            "count": Value(parts.all.count), "min": Value(parts.all.minimum), "max": Value(parts.all.maximum),
            "average": Value(parts.all.average), "weighted": .string(parts.isWeighted ? "duration" : "sample"),
            "latest": parts.latest.map { latest in
                [
                    "start": .string(InstantText.iso8601(latest.start)), "value": Value(latest.value),
                    "source": .string(latest.source),
                ]
            } ?? .null,
            "sources": .array(
                parts.sources.map { source in
                    [
                        "source": .string(source.name), "count": Value(source.statistics.count),
                        "min": Value(source.statistics.minimum), "max": Value(source.statistics.maximum),
                        "average": Value(source.statistics.average), "weight": Value(weight(source)),
                        "seconds": .number(source.time.seconds),
                    ]
                }),
            "hours": .array(
                hours.map { hour in
                    [
                        "start": .string(InstantText.iso8601(hour.range.lowerBound)),
                        "end": .string(InstantText.iso8601(hour.range.upperBound)),
                        "count": Value(hour.statistics.count), "min": Value(hour.statistics.minimum),
                        "max": Value(hour.statistics.maximum), "average": Value(hour.statistics.average),
                    ]
                }),
            "samples": .array(
                parts.samples.map { sample in
                    [
                        "start": .string(InstantText.iso8601(sample.start)),
                        "end": .string(InstantText.iso8601(sample.end)), "value": Value(sample.value),
                        "source": .string(sample.source), "seconds": .number(sample.time.seconds),
                    ]
                }),
        ]
    }

    func headline(_ unit: String) -> String? {
        result.map { "\(ShownNumber.exact(isFraction ? ShownFraction.percent($0) : $0)) \(unit)" }
    }

    private func short(_ number: Double?) -> String {
        ShownNumber.short(isFraction ? number.map { ShownFraction.percent($0) } : number)
    }

    func tables(_ shown: ExplainOptions, _ clock: DayClock) -> [ExplainTable] {
        let latest = parts.latest.map {
            "Latest: \(clock.time($0.start)), \(short($0.value)) \(unit), \($0.source)"
        }
        var tables = [ExplainTable(table: sources, footer: latest)]
        if shown.byHour { tables.append(ExplainTable(table: byHour(clock))) }
        if shown.all { tables.append(ExplainTable(table: samples(clock))) }
        return tables
    }

    private var sources: Table {
        var table = Table([
            .init("Source"), .number("Samples"), .number("Min"), .number("Max"), .number("Average"), .number("Share"),
        ])
        for source in parts.sources {
            let statistics = source.statistics
            table.add([
                source.name, HumanFormat.count(statistics.count), short(statistics.minimum), short(statistics.maximum),
                short(statistics.average),
                ShownNumber.percent(weight(source), of: 1),
            ])
        }
        return table
    }

    private func byHour(_ clock: DayClock) -> Table {
        var table = Table([.init("Hour"), .number("Samples"), .number("Min"), .number("Max"), .number("Average")])
        for (range, statistics) in hours {
            table.add([
                clock.time(range.lowerBound), statistics.count == 0 ? "" : HumanFormat.count(statistics.count),
                short(statistics.minimum), short(statistics.maximum),
                short(statistics.average),
            ])
        }
        return table
    }

    private func samples(_ clock: DayClock) -> Table {
        let counts: [Table.Column] = parts.isWeighted ? [.number("Counts")] : []
        var table = Table([.init("Start"), .number("Lasts")] + counts + [.number("Value"), .init("Source")])
        func duration(_ length: Duration) -> String { length == .zero ? "" : HumanFormat.duration(length) }
        for sample in parts.samples {
            table.add(
                [clock.time(sample.start), duration(sample.end - sample.start)]
                    + counts.map { _ in duration(sample.time) } + [short(sample.value), sample.source])
        }
        return table
    }
}
