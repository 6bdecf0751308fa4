import SQLite

/// Compares the number of rows with the number ever created: rows disappear only if they are removed behind the
/// backend's back.
///
/// Deletions leave tombstones, so each element ever created has a row, no matter who sent it. This walks through all
/// rows (a second for two million), so it is done only on request.
enum RowCount {
    /// Begins a new generation if rows are missing, so that every sender delivers everything again, and restarts the
    /// counts from what is left.
    /// - Returns: how many are missing; nil if none are.
    static func repair(_ database: Database, _ identity: BackendIdentity) throws -> Int64? {
        let missing = try missing(in: database)
        guard missing > 0 else { return nil }
        try identity.beginAgain(at: identity.state.sequence) {
            try database.prepare(
                "INSERT INTO counters(name, count) VALUES('lost', ?1) ON CONFLICT DO UPDATE SET count = count + excluded.count"
            ).with(missing).run()
            try database.execute(
                """
                DELETE FROM tallies;
                INSERT INTO tallies(user, type, alive, deleted)
                    SELECT user, coalesce(type, 0), sum(deleted = 0), sum(deleted <> 0)
                    FROM sample_rows LEFT JOIN kinds ON kinds.id = kind GROUP BY 1, 2;
                -- A repeat isn't a second acceptance.
                DELETE FROM accepted;
                """)
        }
        return missing
    }

    private static func missing(in database: Database) throws -> Int64 {
        try database.prepare(
            """
            SELECT coalesce(sum(iif(name = 'created', count, -count)), 0)
                - (SELECT count(*) FROM sample_rows) - (SELECT count(*) FROM documents)
            FROM counters WHERE name IN ('created', 'lost')
            """
        ).firstRow { $0.int64(0) } ?? 0
    }
}
