import SQLite

/// The backend's tables.
///
/// Samples have two keys: (user, id), without a condition, because a deletion names only an id and must apply before
/// its sample is known; and (user, type, start) for samples that were never in HealthKit (`moment`), so that two manual
/// events with the same type and time count as one, while two workouts or HealthKit samples within a second remain two.
///
/// Nobody needs to query the tables below directly: `BackendViews` unpacks them.
///
/// Data that many samples share is stored once: strings in `texts`; type, unit and source together in `kinds`; sender
/// and time of sending in `batches`.
enum BackendSchema {
    /// Version 1 lacked the times of nights and the ends of workouts; versions 1 and 2 repeated shared data in each
    /// sample; version 3 named the table of samples `samples`, which is now a view, and found samples only by id; version 4
    /// had no log of changes, so a release that knows only that one must not write.
    static let version: Int64 = 5

    /// Creates whatever is missing, and updates a database from an earlier release.
    /// - Throws: `BackendError` for a database from a newer healthbus, which is left unchanged; `SQLiteError`.
    static func create(in database: Database, generation: String) throws {
        try database.transaction {
            try database.execute(
                "CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
            let found = try meta("schema", in: database)
            guard found.isEmpty || (Int64(found) ?? .max) <= version else {
                throw BackendError.newerSchema(path: database.path)
            }
            let isOlder = ["1", "2"].contains(found)
            if found == "1" { try DocumentTimes.fill(in: database) }
            if isOlder {
                try SampleTable.setAside(in: database)
                try DocumentTable.setAside(in: database)
            }
            if found == "3" { try SampleTable.giveWayToView(in: database) }
            for table in [
                tables, SampleTable.tables, SampleKinds.table, SyncBatches.table, DocumentTable.table, ChangesLog.table,
            ] {
                try database.execute(table)
            }
            if isOlder {
                try SampleTable.takeSetAside(in: database)
                try DocumentTable.takeSetAside(in: database)
            }
            if found == "3" { try SampleTable.fillStarts(in: database) }
            let insert = try database.prepare("INSERT OR IGNORE INTO meta(key, value) VALUES(?1, ?2)")
            let unnamed = try holdsDefault(database) ? "default" : "me"
            for (key, value) in [("generation", generation), ("sequence", "0"), ("unnamed", unnamed)] {
                try insert.with(key, value).run()
            }
            try database.prepare("INSERT OR REPLACE INTO meta(key, value) VALUES('schema', ?1)")
                .with(String(version)).run()
        }
    }

    /// Earlier releases stored elements without a user under `default`: they stay there, so that their ids stay unique.
    private static func holdsDefault(_ database: Database) throws -> Bool {
        try database.prepare(
            """
            SELECT 1 FROM texts WHERE text = 'default' AND (EXISTS (SELECT 1 FROM sample_rows WHERE user = texts.id)
                OR EXISTS (SELECT 1 FROM documents WHERE user = texts.id))
            """
        ).firstRow { _ in true } ?? false
    }

    static func meta(_ key: String, in database: Database) throws -> String {
        return try database.prepare("SELECT value FROM meta WHERE key = ?1").with(key).firstRow { $0.string(0) } ?? ""
    }

    // Times are microseconds since 1970, UTC.
    private static let tables = """
        CREATE TABLE IF NOT EXISTS texts(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
        CREATE TABLE IF NOT EXISTS tallies(
            user INTEGER NOT NULL, type INTEGER NOT NULL, alive INTEGER NOT NULL, deleted INTEGER NOT NULL,
            PRIMARY KEY(user, type)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS counters(name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS accepted(
            user INTEGER NOT NULL, kind INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
            deleted INTEGER NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY(user, kind, id, version, deleted)) WITHOUT ROWID;
        """
}

/// Why a backend doesn't start, or can't answer.
package enum BackendError: Error, CustomStringConvertible {
    case newerSchema(path: String)
    case folder(path: String, cause: String)
    case closed
    /// The database is no longer at its path.
    case moved
    /// A database server can't be reached, or a request to it fails.
    case database(String)
    case schemaName(String)

    package var description: String {
        switch self {
        case .newerSchema(let path): "\(path): written by a newer healthbus; use that version, or another database"
        case .folder(let path, let cause):
            "\(path): \(cause); check that the folder exists and that you may write to it"
        case .database(let problem): problem
        case .schemaName(let name):
            "\(name) can't be the name of a schema: begin with a lower-case letter, and use only lower-case letters, digits and _"
        case .closed: "the backend is closed; start it again"
        case .moved: "the database was removed or replaced while it was in use; put it back, and start again"
        }
    }
}
