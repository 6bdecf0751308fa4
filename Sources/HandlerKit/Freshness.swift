import Changelog
import HealthModel
import SQLite
import StageKit

/// When samples last arrived, and when the handler last checked for new ones. The first changes only when samples
/// arrive, the second with every check.
package struct Freshness {
    package private(set) var lastSynced: Instant?
    package private(set) var lastChecked: Instant?
    /// Up to here, samples have arrived before, and are read again.
    private var readThrough = SequenceNumber.beginning

    package init() {}

    package static func createTables(in database: Database) throws {
        try database.execute("CREATE TABLE IF NOT EXISTS freshness(key TEXT PRIMARY KEY, value) WITHOUT ROWID")
    }

    /// What is kept under a key; other parts of a handler keep something here too.
    static func kept<Result>(
        _ key: String, in database: Database, _ read: (Statement) throws -> Result
    ) throws -> Result? {
        try database.prepare("SELECT value FROM freshness WHERE key = ?").with(key).firstRow(read)
    }

    static func keep(_ key: String, _ value: any Bindable, _ turn: Turn) throws {
        try turn.write().database.prepare("INSERT OR REPLACE INTO freshness VALUES (?, ?)").with(key, value).run()
    }

    package static func lastSynced(in database: Database) throws -> Instant? {
        try kept("lastSynced", in: database) { Instant(microseconds: $0.int64(0)) }
    }

    package mutating func open(_ turn: Turn) throws {
        lastSynced = try Self.lastSynced(in: turn.database)
        // Checks made before a restart aren't stored, but there was a check when samples last arrived.
        lastChecked = lastSynced
        readThrough = try Self.kept("readThrough", in: turn.database) { SequenceNumber($0.int64(0)) } ?? .beginning
    }

    /// What has been read so far is about to be read again.
    /// - Parameter anchor: how far it has been read; the beginning for a store that hasn't been read before.
    package mutating func rereads(through anchor: SequenceNumber, _ turn: Turn) throws {
        readThrough = anchor == .beginning ? anchor : max(readThrough, anchor)
        try Self.keep("readThrough", readThrough.value, turn)
    }

    /// Samples have been read. If they begin before what was read earlier, they haven't just arrived.
    package mutating func took(from: SequenceNumber, at now: Instant, _ turn: Turn) throws {
        checked(at: now)
        guard from >= readThrough else { return }
        let synced = max(lastSynced ?? now, now)
        lastSynced = synced
        try Self.keep("lastSynced", synced.microseconds, turn)
    }

    package mutating func checked(at now: Instant) { lastChecked = max(lastChecked ?? now, now) }
}
