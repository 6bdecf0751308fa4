import HTTP
import HealthModel
import SQLite

/// Elements stored as the JSON received: there are only a few per day, and they are read whole.
enum DocumentKind: Int64, CaseIterable {
    case day = 0
    case workout = 1
    case night = 2

    /// The member that holds an element's key: for a day, its date.
    var keyName: StaticString { self == .day ? "date" : "id" }

    /// The kind's name in paths, answers and statistics.
    var plural: StaticString {
        switch self {
        case .day: "days"
        case .workout: "workouts"
        case .night: "nights"
        }
    }
}

/// Writes daily summaries, workouts and nights by the same version rule as samples.
final class DocumentTable {
    private let upsert: Statement
    private let held: Statement
    private let content: Statement
    private let database: Database
    private let replaced: ReplacedRow

    /// The index `documents_held` lets documents be counted without being read.
    ///
    /// The table has rowids: if its rows were ordered by key, everything beyond a few hundred bytes would go to
    /// overflow pages.
    static let table = """
        CREATE TABLE IF NOT EXISTS documents(
            user INTEGER NOT NULL, kind INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
            deleted INTEGER NOT NULL, start INTEGER, device INTEGER, synced INTEGER, body TEXT, "end" INTEGER, date TEXT,
            PRIMARY KEY(user, kind, id));
        CREATE INDEX IF NOT EXISTS documents_times ON documents(user, kind, start, "end", date);
        CREATE INDEX IF NOT EXISTS documents_held ON documents(user, kind, deleted);
        """

    /// Sets aside the documents of a database with schema 1 or 2, which were ordered by key, until `takeSetAside`.
    static func setAside(in database: Database) throws {
        try database.execute("ALTER TABLE documents RENAME TO documents_before")
    }

    static func takeSetAside(in database: Database) throws {
        let columns = "user, kind, id, version, deleted, start, device, synced, body, \"end\", date"
        try database.execute(
            """
            INSERT INTO documents(\(columns)) SELECT \(columns) FROM documents_before ORDER BY user, kind, id;
            DROP TABLE documents_before
            """)
    }

    init(_ database: Database, replaced: ReplacedRow) throws {
        (self.database, self.replaced) = (database, replaced)
        upsert = try database.prepare(
            """
            INSERT INTO documents(user, kind, id, version, deleted, start, device, synced, body, "end", date)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            ON CONFLICT(user, kind, id) DO UPDATE SET version = excluded.version + 0 * replaced(deleted),
                deleted = excluded.deleted, start = iif(excluded.deleted, start, excluded.start),
                "end" = iif(excluded.deleted, "end", excluded."end"), date = iif(excluded.deleted, date, excluded.date),
                device = excluded.device, synced = excluded.synced, body = excluded.body
                WHERE (excluded.version = version AND excluded.deleted > deleted)
                    OR \(ReplacedRow.isNewer(noting: "body IS NOT excluded.body"))
            """)
        content = try database.prepare("SELECT body FROM documents WHERE user = ?1 AND kind = ?2 AND id = ?3")
        held = try database.prepare("SELECT version FROM documents WHERE user = ?1 AND kind = ?2 AND id = ?3")
    }

    /// - Parameter body: the element's JSON; nil deletes the element but keeps its known times.
    func write(
        _ kind: DocumentKind, id: String, version: Int64, times: DocumentTimes, body: UnsafeRawBufferPointer?,
        in batch: SyncBatch
    ) throws -> SyncOutcome.Verdict {
        upsert.bind(1, batch.user)
        upsert.bind(2, kind.rawValue)
        upsert.bind(3, id)
        upsert.bind(4, version)
        upsert.bind(5, body == nil ? 1 : 0)
        if let start = times.start { upsert.bind(6, start.microseconds) }
        upsert.bind(7, batch.device)
        upsert.bind(8, batch.syncedAt.microseconds)
        if let body { upsert.bindText(9, borrowed: body) }
        if let end = times.end { upsert.bind(10, end.microseconds) }
        if let date = times.date { upsert.bind(11, date) }
        replaced.forget()
        try upsert.run()
        guard database.changes == 0 else { return replaced.row == nil ? .created : .updated }
        return try replaced.isContradicted && !isSame(body, kind, id: id, user: batch.user) ? .conflict : .known
    }

    /// Whether the stored JSON means the same, although it is written differently.
    private func isSame(
        _ body: UnsafeRawBufferPointer?, _ kind: DocumentKind, id: String, user: Int64
    ) throws -> Bool {
        return try content.with(user, kind.rawValue, id).firstRow { row in
            row.withBytes(0) { SameContent.holds(row.isNull(0) ? nil : $0, body) }
        } ?? true
    }

    func heldVersion(_ kind: DocumentKind, id: String, user: Int64) throws -> Int64? {
        return try held.with(user, kind.rawValue, id).firstRow { $0.int64(0) }
    }
}
