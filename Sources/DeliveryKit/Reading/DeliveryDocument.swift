import Changelog
import HealthModel
import Protocol

/// An event or a day in the form in which it is delivered. Pure.
package enum DeliveryDocument {
    /// The content of the row of an event or a day, without the version; nil for a tombstone.
    package static func body(of row: KeyedChangelog.Row) -> Value? {
        row.topic == "daily.summary" ? row.body : row.body.map { $0.read(EventBody.self)?.event ?? .null }
    }

    /// The document with its version; nil for one without members.
    package static func versioned(_ body: Value, _ version: Int64) -> Value? {
        guard var members = body.object else { return nil }
        members["version"] = .integer(version)
        return .object(members)
    }
}
