import Changelog
import HealthModel
import SQLite
import StageKit

/// When samples last arrived, and when the handler last checked for new ones. The first changes only when samples
/// arrive, the second with every check.
package struct Freshness {
    package private(set) var lastSynced: Instant?
    package private(set) var lastChecked: Instant?

    package init() {}

    package static func createTables(in database: Database) throws {
        try database.execute("CREATE TABLE IF NOT EXISTS freshness(key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    }

    package static func lastSynced(in database: Database) throws -> Instant? {
        try database.prepare("SELECT value FROM freshness WHERE key = 'lastSynced'").firstRow {
            Instant(microseconds: $0.int64(0))
        }
    }

    package mutating func open(_ turn: Turn) throws {
        lastSynced = try Self.lastSynced(in: turn.database)
        // Checks made before a restart aren't stored, but there was a check when samples last arrived.
        lastChecked = lastSynced
    }

    package mutating func checked(at now: Instant) { lastChecked = max(lastChecked ?? now, now) }

    package mutating func synced(at now: Instant, _ turn: Turn) throws {
        checked(at: now)
        lastSynced = max(lastSynced ?? now, now)
        let write = try turn.write().database.prepare("INSERT OR REPLACE INTO freshness VALUES ('lastSynced', ?)")
        write.bind(1, (lastSynced ?? now).microseconds)
        try write.run()
    }
}
