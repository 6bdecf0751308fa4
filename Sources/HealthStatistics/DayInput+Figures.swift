import HealthModel

extension DayInput {
    /// The source priority that the configuration's `sourceOrder` gives for a type, or else the default order.
    public func sourceOrder(for type: String) -> SourceOrder {
        SourceOrder((configuration["sourceOrder"][type].array ?? []).compactMap(\.string))
    }

    /// Merges a cumulative type; nil when there is no sample of it.
    public func merge(_ type: String) -> CumulativeMerge? {
        let rows = samples.rows(of: type)
        return rows.isEmpty ? nil : CumulativeMerge(samples, rows: rows, order: sourceOrder(for: type))
    }

    /// Whether an instant is part of what the day's result covers.
    public func contains(_ instant: Instant) -> Bool { window.contains { $0.contains(instant) } }
}

extension DayOutput {
    /// Adds a cumulative type's total and hourly values; both are absent when nothing counts on that day.
    public mutating func addTotal(_ name: String, of type: String, from input: DayInput) {
        guard let merge = input.merge(type), let total = merge.total(in: input.window) else { return }
        figures[name] = .number(total)
        hourly[name] = .array(merge.sums(in: input.zones.hours(of: input.day)).map { Value($0) })
    }
}
