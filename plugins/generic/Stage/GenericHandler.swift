import HealthModel
import HealthStatistics

/// Figures for every type without a handler of its own, under `other` by type.
///
/// - Cumulative quantities: `sum` over the merged sources, and `count` of the samples that overlap the day.
/// - Other quantities, and unknown types with numbers: `average` (in the type's style), `min`, `max`, `mostRecent` and
///   `count` of the samples that start on the day.
/// - Categories: `count` of the samples that start on the day, and, if any of them has a duration, `minutes` of the day
///   that they cover, with each instant counted once. Notifications have no minutes: nothing lasted through their span.
/// - Correlations and anything without a number: `count`.
/// - Doses of medications: `count` of those that were taken; the others by what happened to them (`skipped`, `snoozed`,
///   …), or as `unknown`.
/// - A person's own types: whichever they chose of `sum`, `average` (with `min` and `max`) and `mostRecent`, over the
///   samples in the type's unit; always the `count` of all samples; and `minutes` if they have durations.
///
/// `unit` is the type's own or, for an unknown type, the one that all its samples have; null if there is none. The
/// stack's host gives this handler all types that have no other handler; it ignores workouts. Configuration:
/// `sourceOrder`.
public struct GenericHandler: PluginHandler {
    public let version = 4
    public let characteristics: Set<String> = ["ownTypes"]
    /// Whether a dose was taken is only in its payload.
    public let payloadTypes: Set<String> = [DosesDay.type]

    public init() {}

    public func compute(_ input: DayInput) throws -> DayOutput {
        var other: [String: Value] = [:]
        for (identifier, rows) in input.samples.rowsByType() {
            let type = HealthType.named(identifier)
            guard type.kind != .workout else { continue }
            let own = input.characteristics["ownTypes"][identifier]
            let figure = own.isNull ? figure(of: type, rows, input) : figure(ofOwn: own, type, rows, input)
            if let figure { other[identifier] = .object(figure) }
        }
        return other.isEmpty ? DayOutput() : DayOutput(figures: ["other": .object(other)])
    }

    private func figure(of type: HealthType, _ rows: [Int], _ input: DayInput) -> [String: Value]? {
        if type.style == .cumulative { return cumulative(type, rows, input) }
        let starting = rows.filter { input.contains(input.samples.startOf($0)) }
        if type.identifier == DosesDay.type { return DosesDay.figure(starting, of: input.samples) }
        switch type.kind {
        case .category where !type.isNotification: return category(rows, starting, input)
        case .category, .correlation: return starting.isEmpty ? nil : ["count": Value(starting.count)]
        default: return starting.isEmpty ? nil : discrete(type, starting, input)
        }
    }

    /// - Parameter own: how the person wants the type aggregated: `{aggregation, unit}`.
    private func figure(
        ofOwn own: Value, _ type: HealthType, _ rows: [Int], _ input: DayInput
    ) -> [String: Value]? {
        let samples = input.samples
        let starting = rows.filter { input.contains(samples.startOf($0)) }
        guard var figure = category(rows, starting, input) else { return nil }
        let unit = own["unit"].string ?? ""
        // Samples of that name may have come in any way, even before the type was made.
        let numbered = rows.filter { samples.value[$0].isFinite && Self.isRow($0, of: samples, in: unit) }
        if own["aggregation"] == "sum" {
            let merge = CumulativeMerge(
                samples, rows: numbered, order: input.sourceOrder(for: type.identifier), in: input.window)
            guard let sum = merge.total(in: input.window) else { return figure }
            figure["sum"] = .number(sum)
        } else {
            let statistics = statistics(type, numbered, input)
            guard statistics.count > 0 else { return figure }
            switch own["aggregation"].string {
            case "average":
                figure["average"] = Value(statistics.average)
                (figure["min"], figure["max"]) = (Value(statistics.minimum), Value(statistics.maximum))
            case "latest": figure["mostRecent"] = Value(statistics.mostRecent)
            default: return figure
            }
        }
        figure["unit"] = unit.isEmpty ? .null : .string(unit)
        return figure
    }

    /// - Returns: true if the slice doesn't state the unit.
    private static func isRow(_ row: Int, of samples: SamplePage, in unit: String) -> Bool {
        guard samples.unit.count == samples.count, samples.units.indices.contains(Int(samples.unit[row])) else {
            return true
        }
        return samples.units[Int(samples.unit[row])] == unit
    }

    private func cumulative(_ type: HealthType, _ rows: [Int], _ input: DayInput) -> [String: Value]? {
        let merge = CumulativeMerge(
            input.samples, rows: rows, order: input.sourceOrder(for: type.identifier), in: input.window)
        guard let sum = merge.total(in: input.window) else { return nil }
        return ["sum": .number(sum), "count": Value(merge.count(in: input.window)), "unit": .string(type.unit)]
    }

    private func discrete(_ type: HealthType, _ rows: [Int], _ input: DayInput) -> [String: Value] {
        let statistics = statistics(type, rows, input)
        guard statistics.count > 0 else { return ["count": Value(rows.count)] }
        return [
            "average": Value(statistics.average), "min": Value(statistics.minimum), "max": Value(statistics.maximum),
            "mostRecent": Value(statistics.mostRecent), "count": Value(statistics.count),
            "unit": unit(of: type, rows, input.samples),
        ]
    }

    private func statistics(_ type: HealthType, _ rows: [Int], _ input: DayInput) -> DiscreteStatistics {
        DiscreteStatistics(
            input.samples, rows: rows, style: type.style, order: input.sourceOrder(for: type.identifier),
            in: input.window)
    }

    private func category(_ rows: [Int], _ starting: [Int], _ input: DayInput) -> [String: Value]? {
        let samples = input.samples
        let covered = IntervalSet(rows.map { samples.startOf($0)..<max(samples.startOf($0), samples.endOf($0)) })
            .intersection(IntervalSet(input.window))
        guard !starting.isEmpty || !covered.isEmpty else { return nil }
        var figure = ["count": Value(starting.count)]
        if !covered.isEmpty { figure["minutes"] = .number(covered.length.seconds / 60) }
        return figure
    }

    /// For an unknown type, the unit that all its samples came in, if the slice states it and they agree.
    private func unit(of type: HealthType, _ rows: [Int], _ samples: SamplePage) -> Value {
        if !type.unit.isEmpty { return .string(type.unit) }
        guard samples.unit.count == samples.count, let first = rows.first,
            rows.allSatisfy({ samples.unit[$0] == samples.unit[first] }),
            samples.units.indices.contains(Int(samples.unit[first]))
        else { return .null }
        let unit = samples.units[Int(samples.unit[first])]
        return unit.isEmpty ? .null : .string(unit)
    }
}
