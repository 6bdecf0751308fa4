import Changelog
import DeliveryKit
import HealthModel
import SQLite
import StageKit

/// The files in the folder, as they were written: for each path the number of rows and bytes, the checksum, and the
/// time of writing.
package struct FileLedger {
    package struct Entry: Equatable, Sendable {
        package var path: String
        package var rows: Int64
        package var bytes: Int64
        /// SHA-256, hexadecimal.
        package var sum: String
        package var written: Instant

        package init(path: String, rows: Int64, bytes: Int64, sum: String, written: Instant) {
            (self.path, self.rows, self.bytes, self.sum, self.written) = (path, rows, bytes, sum, written)
        }
    }

    private(set) var count: Int64 = 0
    private var metrics: [String: DeliveryTables.Metric] = [:]

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS files(
                path TEXT PRIMARY KEY, rows INTEGER NOT NULL, bytes INTEGER NOT NULL, sum TEXT NOT NULL,
                written INTEGER NOT NULL) WITHOUT ROWID;
            """)
    }

    mutating func open(_ turn: Turn) throws {
        count = try turn.database.prepare("SELECT count(*) FROM files").firstRow { $0.int64(0) } ?? 0
        metrics = try DeliveryTables.metrics(in: turn.database)
    }

    var delivered: [String: Int64] { metrics.mapValues(\.count) }
    var lastDelivered: [String: Instant] { metrics.mapValues(\.last) }

    func entry(_ path: String, _ turn: Turn) throws -> Entry? {
        try turn.database.prepare("SELECT path, rows, bytes, sum, written FROM files WHERE path = ?")
            .with(path).firstRow { Self.entry($0) }
    }

    /// Ordered by path.
    func page(after path: String, limit: Int, _ turn: Turn) throws -> [Entry] {
        try turn.database.prepare(
            "SELECT path, rows, bytes, sum, written FROM files WHERE path > ? ORDER BY path LIMIT ?"
        ).with(path, limit).rows { Self.entry($0) }
    }

    private static func entry(_ row: Statement) -> Entry {
        Entry(
            path: row.string(0), rows: row.int64(1), bytes: row.int64(2), sum: row.string(3),
            written: Instant(microseconds: row.int64(4)))
    }

    mutating func put(_ entry: Entry, isNew: Bool, _ turn: Turn) throws {
        if isNew { count += 1 }
        try turn.write().database.prepare("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)")
            .with(entry.path, entry.rows, entry.bytes, entry.sum, entry.written.microseconds).run()
    }

    mutating func remove(_ path: String, _ turn: Turn) throws {
        let database = try turn.write().database
        try database.prepare("DELETE FROM files WHERE path = ?").with(path).run()
        count -= Int64(database.changes)
    }

    /// Records that rows of a family were written.
    mutating func wrote(_ rows: Int64, family: String, _ turn: Turn) throws {
        try DeliveryTables.delivered(rows, family, in: &metrics, turn)
    }

    mutating func reset(_ turn: Turn) throws {
        try turn.write().database.execute("DELETE FROM files")
        try turn.write().database.execute("DELETE FROM deliveries")
        self = FileLedger()
    }
}
