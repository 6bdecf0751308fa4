import Protocol
import SQLite

/// An element that a person gave up is remembered until the backend has it, refuses it once more, or gets a newer
/// version. A comparison must be able to distinguish such elements from those that the backend has lost.
///
/// Elements dropped under a release without this table are only counted.
extension DroppedElement {
    static let table = "dropped_letters"

    init(_ row: Statement) {
        self.init(
            number: row.int64(0), user: row.string(1), metric: row.string(2), id: row.string(3), version: row.int64(4))
    }

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS dropped_letters(
                number INTEGER PRIMARY KEY, user TEXT NOT NULL, metric TEXT NOT NULL, id TEXT NOT NULL,
                version INTEGER NOT NULL, UNIQUE (user, metric, id));
            """)
    }

    static func count(in database: Database) throws -> Int64 {
        try database.prepare("SELECT count(*) FROM dropped_letters").firstRow { $0.int64(0) } ?? 0
    }

    /// All dropped elements after a given number, oldest first.
    package static func page(in database: Database, after: Int64 = 0, limit: Int) throws -> [DroppedElement] {
        try database.prepare(
            "SELECT number, user, metric, id, version FROM dropped_letters WHERE number > ? ORDER BY number LIMIT ?"
        ).with(after, limit).rows { DroppedElement($0) }
    }

    static func add(_ letter: DeadLetter, in database: Database) throws {
        try database.prepare(
            """
            INSERT INTO dropped_letters(user, metric, id, version) VALUES (?, ?, ?, ?)
            ON CONFLICT (user, metric, id) DO UPDATE SET version = max(version, excluded.version)
            """
        ).with(letter.user, letter.metric, letter.id, letter.version).run()
    }
}
