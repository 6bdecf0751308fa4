import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

extension DeliveryLedger {
    /// Lists elements that the destination has with the same version but different content.
    mutating func addConflicts(
        _ elements: [(id: String, version: Int64)], metric: DeliveryMetric, user: String, _ turn: Turn
    ) throws {
        guard let first = elements.first else { return }
        turn.log(.deliveryConflict, ["metric": metric.rawValue, "count": elements.count, "id": first.id])
        let database = try turn.write().database
        let again = try database.prepare(
            """
            UPDATE conflicts SET last = ?1, seen = seen + 1, version = max(version, ?5)
            WHERE user = ?2 AND metric = ?3 AND id = ?4
            """)
        let add = try database.prepare(
            "INSERT INTO conflicts(at, last, user, metric, id, version, seen) VALUES (?1, ?1, ?2, ?3, ?4, ?5, 1)")
        func run(_ statement: Statement, _ element: (id: String, version: Int64)) throws -> Bool {
            try statement.with(turn.now.microseconds, user, metric.rawValue, element.id, element.version).run()
            return database.changes > 0
        }
        for element in elements {
            if try run(again, element) || conflicts >= DeliveryConflict.limit { continue }
            if try run(add, element) { conflicts += 1 }
        }
    }

    /// Takes these elements out of the conflicts: the destination has them as they were sent, or has newer ones.
    mutating func takeOutConflicts(
        _ elements: some Sequence<(id: String, version: Int64)>, metric: DeliveryMetric, user: String, _ turn: Turn
    ) throws {
        guard conflicts > 0 else { return }
        conflicts -= try DeliveryTables.remove(elements, from: "conflicts", metric, user: user, turn)
    }
}
