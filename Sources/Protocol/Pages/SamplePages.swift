import HealthModel

/// The members of a page of changes, of whatever kind, that are needed to count its changes.
package struct CountedPage: PageContent {
    package struct Row: Codable, Sendable { package var deleted: Bool? }
    package struct Flags: Codable, Sendable { @Packed package var flags: [UInt8] }

    @IfReadable package var rows: [Row]?
    @IfReadable package var samples: Flags?
    @IfReadable package var added: Int?
    @IfReadable package var deleted: Int?
}

extension SamplePage: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(wireValue: try decoder.singleValueContainer().decode(Value.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wireValue)
    }
}
