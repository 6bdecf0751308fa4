import HealthModel
import Protocol
import SQLite
import StageKit

/// The tables of files handed over: what was requested for each, its outcome, and which sequence numbers were assigned
/// by a first read.
package enum ImportTables {
    /// What each file's import is to do, by the import's id.
    package static let plans = ValueTable("import_plans", key: "id", value: "plan")

    /// Files still in the inbox folder, by name: the import's id, and the file's identity.
    package static let drops = ValueTable("import_drops", key: "name", value: "file")

    /// Users whose data is made up, with the path of the first such export.
    package static let madeUp = ValueTable("made_up", key: "user", value: "path")

    /// What has been taken back so far, by the request that asked for it.
    package static let undos = ValueTable("import_undos", key: "request", value: "report")

    /// What an import that isn't over has changed among older samples, by its id.
    package static let rewrites = ValueTable("import_rewrites", key: "id", value: "changes")

    /// How many samples an earlier release stored twice, by user, once that is known.
    package static let doubles = ValueTable("store_doubles", key: "user", value: "samples")

    /// What the last search or repair of doubles found, under "last".
    package static let doublesFound = ValueTable("store_doubles_found", key: "which", value: "report")

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS imports(
                number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL, user TEXT NOT NULL, state TEXT NOT NULL,
                submitted INTEGER NOT NULL, added TEXT NOT NULL, report TEXT, problem TEXT, seconds REAL NOT NULL);
            CREATE TABLE IF NOT EXISTS import_offers(
                id TEXT PRIMARY KEY, request TEXT NOT NULL, heard INTEGER NOT NULL) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS first_reads(
                user TEXT PRIMARY KEY, after INTEGER NOT NULL, until INTEGER) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS import_undone(id TEXT PRIMARY KEY, undone INTEGER NOT NULL) WITHOUT ROWID
            """)
        try plans.create(in: database)
        try drops.create(in: database)
        try undos.create(in: database)
        try rewrites.create(in: database)
        try doubles.create(in: database)
        try doublesFound.create(in: database)
        try madeUp.create(in: database)
    }

    /// What the last search or repair of doubles found; nil if there was none.
    static func foundDoubles(in database: Database) throws -> DoublesReport? {
        // A store from an earlier release has no such table until this release's observer has opened it.
        guard try database.hasTable("store_doubles_found") else { return nil }
        return try doublesFound.value("last", in: database)?.read()
    }

    /// The observer's answer for each of the newest imports, or for the one with the given id.
    static func answer(id: String?, in database: Database) throws -> [ImportRow] {
        // A store from an earlier release has no such table until this release's observer has opened it.
        let hasUndone = try database.hasTable("import_undone")
        let list = try database.prepare(
            """
            SELECT imports.id, path, user, state, report, problem, request, submitted\(hasUndone ? ", undone" : "")
            FROM imports LEFT JOIN import_offers ON import_offers.id = imports.id
                \(hasUndone ? "LEFT JOIN import_undone ON import_undone.id = imports.id" : "")
            WHERE ?1 IS NULL OR imports.id = ?1 ORDER BY number DESC LIMIT 100
            """)
        return try list.with(id).rows { row in
            var entry =
                ImportRow(
                    id: row.string(0), path: row.string(1), user: row.string(2),
                    state: .init(rawValue: row.string(3)) ?? .failed,
                    report: row.isNull(4) ? nil : try Value(json: row.bytes(4)),
                    problem: row.isNull(5) ? nil : row.string(5),
                    request: row.isNull(6) ? nil : try Value(json: row.bytes(6)).read())
            entry.submitted = Instant(microseconds: row.int64(7))
            if hasUndone, !row.isNull(8) { entry.undone = Instant(microseconds: row.int64(8)) }
            return entry
        }
    }
}
