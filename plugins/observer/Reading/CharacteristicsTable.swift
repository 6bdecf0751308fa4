import HealthModel
import SQLite

/// What is known about the users themselves (`dateOfBirth`): part of the observer's changelog, so that every stage sees
/// the same.
package enum CharacteristicsTable {
    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS characteristics(
                user TEXT PRIMARY KEY, seq INTEGER NOT NULL, exported INTEGER NOT NULL, members TEXT NOT NULL) WITHOUT ROWID
            """)
    }

    /// What changed in a window, and what is known about `users`; by user.
    static func read(
        _ database: Database, after: SequenceNumber, through: SequenceNumber, users: Set<String>
    ) throws -> [String: Value] {
        var byUser: [String: Value] = [:]
        try database.prepare("SELECT user, seq, members FROM characteristics").forEachRow { row in
            let sequence = SequenceNumber(row.int64(1))
            guard users.contains(row.string(0)) || (sequence > after && sequence <= through) else { return }
            byUser[row.string(0)] = try Value(json: row.bytes(2))
        }
        return byUser
    }
}
