import Configuration
import HealthModel
import HealthStatistics
import Inspection
import Terminal

/// Explains the count of a day's category samples, or of the doses that were taken. For stand hours, it shows which of
/// the day's hours have a sample with the value "stood".
struct CategoryExplanation: Explanation {
    struct Sample {
        var start: Instant
        var end: Instant
        /// Apple's name for the value, without the part that is common to all names of the type, or the number if there
        /// is no name.
        var value: String
        var source: String
        var stood: Bool
        /// Whether it is among those that are counted.
        var counts = true
    }

    let kind: ExplainedMetric.Kind
    private let isDoses: Bool
    let samples: [Sample]
    /// How many samples of earlier days extend into this one. They were counted where they began.
    let continued: Int
    /// The day's hours, and whether a sample in each hour has the value "stood"; nil if the hour has no samples.
    let hours: [(range: Range<Instant>, stood: Bool?, sources: [String])]

    init(_ type: String, kind: ExplainedMetric.Kind, _ input: DayInput) {
        self.kind = kind
        let isDoses = type == HealthType.medicationDoseIdentifier
        self.isDoses = isDoses
        let page = input.samples
        let rows = page.rows(of: type)
        let samples = rows.filter { input.contains(page.startOf($0)) }.map { row in
            if isDoses {
                let status = DoseStatus(payload: page.payloadValue(row))
                return Sample(
                    start: page.startOf(row), end: page.endOf(row), value: status?.rawValue ?? "unknown",
                    source: page.originOf(row).sourceName, stood: false, counts: status == .taken)
            }
            let raw = Int(exactly: page.value[row])
            return Sample(
                start: page.startOf(row), end: page.endOf(row),
                value: raw.flatMap { CategoryValue.name(of: $0, type: type) } ?? raw.map { "\($0)" } ?? "",
                source: page.originOf(row).sourceName, stood: page.value[row] == 0)
        }
        self.samples = samples
        continued = rows.count { row in
            let time = page.startOf(row)..<max(page.startOf(row), page.endOf(row))
            return !input.contains(time.lowerBound) && input.window.contains(where: time.overlaps)
        }
        hours = input.zones.hours(of: input.day).map { hour in
            let own = samples.filter { hour.contains($0.start) }
            return (hour, own.isEmpty ? nil : own.contains(where: \.stood), Set(own.map(\.source)).sorted())
        }
    }

    var result: Double? {
        guard !samples.isEmpty || continued > 0 && kind == .count else { return nil }
        return Double(kind == .standHours ? hours.count { $0.stood == true } : samples.count { $0.counts })
    }

    var rule: String {
        if kind == .standHours {
            return "An hour of the local clock counts if any sample that starts in it says stood."
        }
        return isDoses
            ? "Doses of the day that were taken are counted; sources aren't merged."
            : "Samples that start on the day are counted; sources aren't merged."
    }

    var members: [String: Value] {
        var members: [String: Value] = [
            "samples": .array(
                samples.map {
                    [
                        "start": .string(InstantText.iso8601($0.start)), "end": .string(InstantText.iso8601($0.end)),
                        "value": .string($0.value), "source": .string($0.source),
                    ]
                })
        ]
        if kind == .count { members["continued"] = Value(continued) }
        if kind == .standHours {
            members["hours"] = .array(
                hours.map { hour in
                    [
                        "start": .string(InstantText.iso8601(hour.range.lowerBound)),
                        "end": .string(InstantText.iso8601(hour.range.upperBound)),
                        "stood": hour.stood.map { .bool($0) } ?? .null,
                        "sources": .array(hour.sources.map { .string($0) }),
                    ]
                })
        }
        return members
    }

    func tables(_ shown: ExplainOptions, _ clock: DayClock) -> [ExplainTable] {
        if kind == .standHours, !shown.all {
            var table = Table([.init("Hour"), .init("Stood"), .init("Sources")])
            for hour in hours {
                let stood = hour.stood.map { $0 ? "stood" : "idle" } ?? ""
                table.add([clock.time(hour.range.lowerBound), stood, hour.sources.joined(separator: ", ")])
            }
            return [ExplainTable(table: table)]
        }
        var table = Table([.init("From"), .init("To"), .init("Value"), .init("Source")])
        for sample in samples {
            table.add([
                clock.time(sample.start), sample.end == sample.start ? "" : clock.end(sample.end), sample.value,
                sample.source,
            ])
        }
        let earlier =
            "Samples of earlier days that extend into this one: \(continued). They were counted where they began."
        return [
            ExplainTable(table: table, rowsOnScreen: 40, footer: continued > 0 && kind == .count ? earlier : nil)
        ]
    }
}
