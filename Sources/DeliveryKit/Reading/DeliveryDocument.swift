import Changelog
import HealthModel
import Protocol

/// An event or a day in the form in which it is delivered. Pure.
package enum DeliveryDocument {
    /// The document delivered for the row of an event or a day; nil for a tombstone, and for a row without members.
    package static func document(of row: KeyedChangelog.Row) -> Value? {
        body(of: row).flatMap { versioned($0, row.sequence.value) }
    }

    /// The document as in `document(of:)`, without the version.
    static func body(of row: KeyedChangelog.Row) -> Value? {
        row.topic == "daily.summary" ? row.body : row.body.map { $0.read(EventBody.self)?.event ?? .null }
    }

    package static func versioned(_ body: Value, _ version: Int64) -> Value? {
        guard var members = body.object else { return nil }
        members["version"] = .integer(version)
        return .object(members)
    }
}
