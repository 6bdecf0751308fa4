import Changelog
import HealthModel
import SQLite

/// A table in a stage's file that holds one value under each key, as JSON.
package struct ValueTable: Sendable {
    private let name: String
    private let key: String
    private let value: String

    /// - Parameters:
    ///   - key: the name of the key column.
    ///   - value: the name of the value column.
    package init(_ name: String, key: String = "key", value: String = "value") {
        (self.name, self.key, self.value) = (name, key, value)
    }

    package func create(in database: Database) throws {
        try database.execute(
            "CREATE TABLE IF NOT EXISTS \(name)(\(key) TEXT PRIMARY KEY, \(value) TEXT NOT NULL) WITHOUT ROWID")
    }

    package func value(_ key: String, in database: Database) throws -> Value? {
        try database.prepare("SELECT \(value) FROM \(name) WHERE \(self.key) = ?")
            .with(key).firstRow { $0.bytes(0) }.map { try Value(json: $0) }
    }

    /// Calls `body` for each entry, in the order of the keys.
    package func forEach(in database: Database, _ body: (_ key: String, _ value: Value) throws -> Void) throws {
        try database.prepare("SELECT \(key), \(value) FROM \(name) ORDER BY \(key)").forEachRow {
            try body($0.string(0), try Value(json: $0.bytes(1)))
        }
    }

    package func set(_ key: String, to value: Value, _ turn: Turn) throws {
        try turn.write().database.prepare("INSERT OR REPLACE INTO \(name) VALUES (?, ?)").with(key, value.json()).run()
    }

    package func remove(_ key: String, _ turn: Turn) throws {
        try turn.write().database.prepare("DELETE FROM \(name) WHERE \(self.key) = ?").with(key).run()
    }
}
