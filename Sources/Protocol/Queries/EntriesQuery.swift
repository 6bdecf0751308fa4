import HealthModel

/// The observer: a person's own types, and the newest events that they entered.
package struct EntriesQuery: Query {
    package typealias Answer = EntriesPage
    package static let name = "entries"

    package var user: String
    /// Only events whose id equals this or begins with it.
    @IfReadable package var event: String?
}

extension Query where Self == EntriesQuery {
    package static func entries(user: String, event: String? = nil) -> Self { Self(user: user, event: event) }
}

/// A person's own types, and the newest events that they entered.
package struct EntriesPage: PageContent, Equatable {
    /// Sorted by name; in the first part only.
    package var ownTypes: [OwnTypeRow]
    /// The newest first.
    package var events: [OwnEventRow]

    package init(ownTypes: [OwnTypeRow], events: [OwnEventRow]) { (self.ownTypes, self.events) = (ownTypes, events) }
}

/// A type that a person has defined.
package struct OwnTypeRow: Codable, Sendable, Equatable {
    package var name: String
    /// "quantity" or "category".
    package var kind: String
    /// Empty for a category or a plain number.
    package var unit: String
    /// "sum", "average", "latest" or "count".
    package var aggregation: String
    package var version: Int64

    package init(name: String, kind: String, unit: String, aggregation: String, version: Int64) {
        (self.name, self.kind, self.unit, self.aggregation, self.version) = (name, kind, unit, aggregation, version)
    }

    /// The type as programs see it.
    package var value: Value { Value(self) }
}

/// An event that a person entered.
package struct OwnEventRow: Codable, Sendable, Equatable {
    package var id: String
    package var version: Int64
    package var type: String
    package var start: Instant
    package var end: Instant
    @OrNull package var value: Double?
    package var unit: String
    @OrNull package var note: String?
    /// The id of its sample.
    package var sample: String

    package init(
        id: String, version: Int64, type: String, start: Instant, end: Instant, value: Double?, unit: String,
        note: String?, sample: String
    ) {
        (self.id, self.version, self.type, self.start, self.end, self.value) = (id, version, type, start, end, value)
        (self.unit, self.note, self.sample) = (unit, note, sample)
    }

    /// The event as programs see it.
    package var json: Value {
        [
            "id": .string(id), "version": .integer(version), "type": .string(type),
            "start": .string(InstantText.iso8601(start)), "end": .string(InstantText.iso8601(end)),
            "value": Value(value), "unit": .string(unit), "note": Value(note), "sample": .string(sample),
        ]
    }
}
