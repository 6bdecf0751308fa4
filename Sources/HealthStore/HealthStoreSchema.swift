import SQLite

/// The tables of a health store.
///
/// A store is its own changelog: every sample has the sequence of its latest change, so an anchored query walks the
/// samples themselves. Samples that arrive many at a time are stored in `blocks`, in columns, a few thousand per block.
/// They take up a fifth of the space, and can be read at the speed of memory. All others are in `samples`, one row
/// each: samples that arrive one by one, those that are deleted, quarantined or longer than `longDuration`, and all
/// that have changed since they arrived. When a sample in a block changes, it moves: `moved` records its old sequence,
/// and `samples` holds the new version. So a block never changes.
///
/// In `samples`, a single unique index is used both to identify rows and to find ranges; it is the only index that
/// every insert has to update. The partial index holds just the samples longer than `longDuration`, so that one sample
/// a year long doesn't make every slice reach back a year.
package struct HealthStoreSchema {
    /// The version of the layout, kept in `store_schema` (`user_version` belongs to the owner of the file).
    package static let version = 8
    /// Stores of earlier versions may hold samples twice.
    package static let firstWithSightings = 8

    /// Samples longer than this (µs) are found through an index of their own.
    static let longDuration: Int64 = 24 * 3600 * 1_000_000

    /// Creates missing tables, and brings a store from an earlier version up to date. Runs inside the caller's
    /// transaction.
    /// - Throws: `HealthStoreError.newerSchema` for a store made by a later version.
    package static func create(in database: Database) throws {
        try database.execute("CREATE TABLE IF NOT EXISTS store_schema (version INTEGER NOT NULL)")
        if let found = try database.prepare("SELECT max(version) FROM store_schema").firstNumber().map({ Int($0) }) {
            guard found <= version else { throw HealthStoreError.newerSchema(found: found, known: version) }
            guard found < version else { return try beginLateTables(in: database) }
            if found < 2 {
                // Existing summaries count as older than any export, so the next export's summaries replace them.
                try database.execute(
                    "ALTER TABLE activity_summaries ADD COLUMN exported INTEGER NOT NULL DEFAULT \(Int64.min)")
            }
            if found < 3 {
                try database.execute("ALTER TABLE quarantine ADD COLUMN seen INTEGER NOT NULL DEFAULT 1")
                try database.execute("ALTER TABLE quarantine ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0")
            }
            if found < 4 {
                try database.execute(Stretches.table)
                try Stretches.fill(in: database)
            }
            // Samples that an earlier release stored stay in the table of rows.
            for table in BlockTable.tables + [Pieces.table] { try database.execute(table) }
            if found < 6 { try BroughtTable.begin(in: database) }
            try database.execute(newestHeads)
        } else {
            for table in tables + BlockTable.tables + [Pieces.table] { try database.execute(table) }
            try BroughtTable.begin(in: database)
        }
        for table in DocumentTable.tables { try database.execute(table) }
        try beginLateTables(in: database)
        try database.execute("INSERT INTO store_schema VALUES (\(version))")
    }

    private static func beginLateTables(in database: Database) throws {
        try WorkoutSightings.begin(in: database)
        try RouteTable.begin(in: database)
        for table in [BroughtTable.dates, replacedIndex] + UnsettledTimes.tables + SourceNames.tables {
            try database.execute(table)
        }
    }

    /// Finds the few samples for which others stand.
    private static let replacedIndex = """
        CREATE INDEX IF NOT EXISTS samples_replaced ON samples (user, type, second)
          WHERE state = \(SampleState.replaced.rawValue)
        """

    /// Deletes what an interrupted import left unfinished. Runs inside the caller's transaction.
    package static func dropUnfinished(in database: Database) throws {
        try DocumentTable.dropUnfinished(in: database)
    }

    /// Finds recent changes among the types of a thousand people.
    private static let newestHeads = "CREATE INDEX IF NOT EXISTS heads_newest ON heads (seq)"

    // Columns that filters read come first: SQLite decodes a row from its beginning up to the last column requested.
    // `born` is 0 while it would equal `seq`, because a 0 takes no space.
    private static let tables = [
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        "CREATE TABLE types (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        "CREATE TABLE units (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        """
        CREATE TABLE origins (id INTEGER PRIMARY KEY, source TEXT NOT NULL, version TEXT NOT NULL, product TEXT NOT NULL,
          device TEXT NOT NULL, UNIQUE (source, version, product, device))
        """,
        """
        CREATE TABLE samples (seq INTEGER PRIMARY KEY, user INTEGER NOT NULL, type INTEGER NOT NULL, state INTEGER NOT NULL,
          second INTEGER NOT NULL, start_us INTEGER NOT NULL, duration INTEGER NOT NULL, value REAL, origin INTEGER NOT NULL,
          flags INTEGER NOT NULL, born INTEGER NOT NULL, id BLOB NOT NULL, unit INTEGER NOT NULL, created INTEGER NOT NULL,
          uuid BLOB, metadata TEXT, payload TEXT)
        """,
        "CREATE UNIQUE INDEX samples_identity ON samples (user, type, second, id)",
        "CREATE INDEX samples_long ON samples (user, type, second, id) WHERE duration > \(longDuration)",
        """
        CREATE TABLE uuids (user INTEGER NOT NULL, uuid BLOB NOT NULL, seq INTEGER, deleted INTEGER NOT NULL,
          PRIMARY KEY (user, uuid)) WITHOUT ROWID
        """,
        """
        CREATE TABLE heads (user INTEGER NOT NULL, type INTEGER NOT NULL, seq INTEGER NOT NULL, alive INTEGER NOT NULL,
          deleted INTEGER NOT NULL, quarantined INTEGER NOT NULL, first_start INTEGER, last_start INTEGER, last_end INTEGER,
          reach INTEGER NOT NULL, stale INTEGER NOT NULL, PRIMARY KEY (user, type)) WITHOUT ROWID
        """,
        newestHeads,
        Stretches.table,
        """
        CREATE TABLE quarantine (number INTEGER PRIMARY KEY, user INTEGER NOT NULL, content BLOB NOT NULL, sample BLOB,
          source TEXT NOT NULL, line INTEGER NOT NULL, reason TEXT NOT NULL, raw TEXT NOT NULL,
          seen INTEGER NOT NULL DEFAULT 1, dropped INTEGER NOT NULL DEFAULT 0, UNIQUE (user, content))
        """,
        "CREATE INDEX quarantine_sample ON quarantine (user, sample) WHERE sample IS NOT NULL",
        """
        CREATE TABLE activity_summaries (user INTEGER NOT NULL, date TEXT NOT NULL, payload TEXT NOT NULL,
          exported INTEGER NOT NULL, PRIMARY KEY (user, date)) WITHOUT ROWID
        """,
        """
        CREATE TABLE routes (user INTEGER NOT NULL, path TEXT NOT NULL, first_point INTEGER NOT NULL, points TEXT NOT NULL,
          PRIMARY KEY (user, path, first_point))
        """,
    ]
}

/// The current state of a row in `samples`.
enum SampleState: UInt8 {
    case alive = 0
    /// Missing from a newer complete export, taken back, replaced by an edited version, or gone from the stack that is
    /// followed; a later add restores it.
    case absent = 1
    /// Deleted by UUID or id, permanently.
    case deleted = 2
    /// The sample is outside the plausibility limits.
    case quarantined = 3
    /// Another form of the same measurement stands for it (`CondensedForms`). Being sent again doesn't restore it; only
    /// a newer export that contains it, or undoing the import with the other form, does.
    case replaced = 4
}
