import HealthModel

/// The observer: the quarantine, entry by entry.
package struct QuarantinedQuery: Query {
    package typealias Answer = QuarantinedPage
    package static let name = "quarantined"

    @IfReadable var numbers: [Int64]?
    @IfReadable var reason: String?
    @IfReadable var type: String?
    @IfReadable package var user: String?
    /// Whether the contents of the first numbered entry are wanted.
    @IfReadable package var record: Bool?
    @IfReadable package var `continue`: Int64?

    package var selection: RepairSelection { RepairSelection(numbers: numbers, reason: reason, type: type) }
}

extension Query where Self == QuarantinedQuery {
    package static func quarantined(
        _ selection: RepairSelection, user: String? = nil, record: Bool? = nil, after: Int64? = nil
    ) -> Self {
        Self(
            numbers: selection.numbers, reason: selection.reason, type: selection.type, user: user, record: record,
            continue: after)
    }
}

/// A page of the quarantine's entries, oldest first.
package struct QuarantinedPage: PageContent, Equatable {
    package var entries: [QuarantinedRow]
    /// Set on the last part if there is more: pass it in the next request.
    package var `continue`: Int64?

    package init(entries: [QuarantinedRow], continue number: Int64? = nil) {
        self.entries = entries
        `continue` = number
    }
}

/// Something that the observer can't accept as it is, and why.
package struct QuarantinedRow: Codable, Sendable, Equatable {
    /// A sample outside the limits, or input that wasn't understood.
    package enum Kind: String, Codable, Sendable { case sample, input }

    /// Rises with each entry in this store.
    package var number: Int64
    package var user: String
    @OrNull package var type: String?
    package var kind: Kind
    package var reason: String
    /// The file or request that contained it, and its line there; 0 if there is none.
    package var source: String
    package var line: Int64
    /// How many times it has been received.
    package var seen: Int64
    @OrNull package var start: Instant?
    @OrNull package var end: Instant?
    /// Its contents, if requested.
    package var record: Record?

    package enum Record: Sendable, Equatable {
        case sample(Sample)
        /// The text, for input that wasn't understood.
        case input(raw: String)
    }

    /// The sample, if it is outside the limits.
    package struct Sample: Codable, Sendable, Equatable {
        @OrNull package var id: String?
        @OrNull package var value: Double?
        package var unit: String
        package var sourceName: String
        package var sourceVersion: String
        package var device: String
        /// JSON.
        package var metadata: String
        package var payload: String
        @OrNull package var created: Instant?

        package init(
            id: String?, value: Double?, unit: String, sourceName: String, sourceVersion: String, device: String,
            metadata: String, payload: String, created: Instant?
        ) {
            (self.id, self.value, self.unit, self.sourceName) = (id, value, unit, sourceName)
            (self.sourceVersion, self.device, self.metadata, self.payload) = (sourceVersion, device, metadata, payload)
            self.created = created
        }
    }

    package init(
        number: Int64, user: String, type: String?, kind: Kind, reason: String, source: String, line: Int64,
        seen: Int64, start: Instant?, end: Instant?
    ) {
        (self.number, self.user, self.type, self.kind, self.reason) = (number, user, type, kind, reason)
        (self.source, self.line, self.seen, self.start, self.end) = (source, line, seen, start, end)
    }
}

extension QuarantinedRow.Record: Codable {
    private enum Member: CodingKey { case raw }

    package init(from decoder: any Decoder) throws {
        let raw = try decoder.container(keyedBy: Member.self).decodeIfPresent(String.self, forKey: .raw)
        self = try raw.map { .input(raw: $0) } ?? .sample(QuarantinedRow.Sample(from: decoder))
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .sample(let sample): try sample.encode(to: encoder)
        case .input(let raw):
            var members = encoder.container(keyedBy: Member.self)
            try members.encode(raw, forKey: .raw)
        }
    }
}
