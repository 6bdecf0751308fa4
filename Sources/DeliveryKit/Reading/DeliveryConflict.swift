import HealthModel
import Protocol
import SQLite
import StageKit

extension DeliveryConflict {
    /// The maximum number of conflicts that are kept: if a destination differs in everything, the first ones show it.
    static let limit: Int64 = 10_000

    init(_ row: Statement) {
        self.init(
            number: row.int64(0), user: row.string(1), metric: row.string(2), id: row.string(3), version: row.int64(4),
            firstSeen: Instant(microseconds: row.int64(5)), lastSeen: Instant(microseconds: row.int64(6)),
            seen: row.int64(7))
    }

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS conflicts(
                number INTEGER PRIMARY KEY, user TEXT NOT NULL, metric TEXT NOT NULL, id TEXT NOT NULL,
                version INTEGER NOT NULL, at INTEGER NOT NULL, last INTEGER NOT NULL, seen INTEGER NOT NULL);
            """)
        try DeliveryTables.listOnce("conflicts", counting: "seen", in: database)
    }

    /// 0 for a file that was never opened by a release that lists conflicts.
    package static func count(in database: Database) throws -> Int64 {
        guard try database.hasTable("conflicts") else { return 0 }
        return try DeliveryTables.elements(listedIn: "conflicts", in: database)
    }

    /// Conflicts after a given number, oldest first.
    package static func page(in database: Database, after: Int64 = 0, limit: Int) throws -> [DeliveryConflict] {
        guard try database.hasTable("conflicts") else { return [] }
        return try database.prepare(
            """
            SELECT number, user, metric, id, version, at, last, seen FROM conflicts WHERE number > ?1
            ORDER BY number LIMIT ?2
            """
        ).with(after, limit).rows { DeliveryConflict($0) }
    }
}
