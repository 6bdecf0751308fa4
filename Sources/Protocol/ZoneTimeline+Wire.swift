import HealthModel

extension ZoneTimeline {
    /// `[[from, zone], …]`; the first `from` is null, meaning all earlier time.
    package var wireValue: Value {
        .array(
            entries.map { [$0.from == .distantPast ? .null : .integer($0.from.microseconds), .string($0.zone)] })
    }

    /// nil when the value isn't a timeline.
    package init?(wireValue value: Value) throws {
        guard let list = value.array else { return nil }
        var entries: [Entry] = []
        for entry in list {
            guard let parts = entry.array, parts.count == 2, let zone = parts[1].string else { return nil }
            let from = parts[0].int.map { Instant(microseconds: $0) }
            entries.append(Entry(from: from ?? .distantPast, zone: zone))
        }
        try self.init(entries)
    }
}
