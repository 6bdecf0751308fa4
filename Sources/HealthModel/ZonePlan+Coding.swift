/// `[from, zone, origin]`; a null `from` stands for all time before the next entry.
extension ZonePlan.Part: Codable {
    package init(from decoder: any Decoder) throws {
        var parts = try decoder.unkeyedContainer()
        let from = try parts.decodeNil() ? Instant.distantPast : parts.decode(Instant.self)
        self.init(
            from: from, zone: try parts.decode(String.self), origin: try parts.decode(ZonePlan.Origin.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var parts = encoder.unkeyedContainer()
        if from == .distantPast { try parts.encodeNil() } else { try parts.encode(from) }
        try parts.encode(zone)
        try parts.encode(origin)
    }
}
