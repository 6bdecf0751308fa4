import HealthModel

extension DayInput {
    /// The source priority for a type, as given by the configuration's `sourceOrder`, or else the default order.
    public func sourceOrder(for type: String) -> SourceOrder {
        SourceOrder((configuration["sourceOrder"][type].array ?? []).compactMap(\.string))
    }

    /// Merges the samples of a cumulative type; nil when there are none.
    public func merge(_ type: String) -> CumulativeMerge? {
        let rows = samples.rows(of: type)
        return rows.isEmpty ? nil : CumulativeMerge(samples, rows: rows, order: sourceOrder(for: type), in: window)
    }

    /// Whether an instant is within the period that the day's result covers.
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
