import HealthModel
import SQLite

/// The device and who is registered, on file, and the little that each read has to know (`ReadAccess`); each by its key.
package enum DeliveryTable {
    static func createTables(in database: Database) throws {
        try database.execute(
            "CREATE TABLE IF NOT EXISTS delivery(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    }

    package static func read(_ key: String, _ database: Database) throws -> Value? {
        let find = try database.prepare("SELECT value FROM delivery WHERE key = ?")
        find.bind(1, key)
        return try find.firstRow { $0.bytes(0) }.map { try Value(json: $0) }
    }
}
