import PostgreSQL

extension PostgresSchema {
    /// Makes whatever is missing: everything in a new database, else what somebody has dropped; and the views that have
    /// changed. If elements were lost with a part, a new generation begins, so that every sender delivers everything
    /// again. Version 1 is the only one so far, so there are no older tables to update.
    /// - Returns: how many elements were lost; nil if no generation began for that.
    /// - Throws: `PostgresError`, or `PostgresStoreError` for tables that are left unchanged: those of another version,
    ///   and those in which a part can't be made.
    @discardableResult
    func prepare(_ connection: PostgresConnection) throws -> Int64? {
        try connection.transaction {
            // Another process that starts at the same time waits here, and then finds everything done.
            _ = try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", ["healthbus " + name])
            let version = try version(connection)
            if let version, version != Self.version {
                throw PostgresStoreError.schema(name: name, version: version, known: Self.version)
            }
            try makeSchema(name, connection)
            let missing = try missingParts(connection)
            for part in missing { try make(part.making(in: self), on: part.table, connection) }
            try makeMomentIndexes(connection)
            var lost: Int64?
            if version == nil {
                _ = try connection.execute(
                    """
                    INSERT INTO \(table("meta")) (schema_version, generation, sequence, created)
                    VALUES ($1, $2, 0, \(rows))
                    """, ["\(Self.version)", Self.nonce()])
            } else if missing.contains(where: \.holdsElements) {
                lost = try beginAgain(connection)
            }
            try prepareViews(connection)
            return lost
        }
    }

    /// nil if there is no `meta` yet, or if somebody has dropped or emptied it.
    private func version(_ connection: PostgresConnection) throws -> Int64? {
        let found = try connection.execute("SELECT to_regclass($1) IS NOT NULL", [table("meta")])
        guard found.bool(0, 0) else { return nil }
        do {
            return try connection.execute("SELECT schema_version FROM \(table("meta"))", []).integer(0, 0)
        } catch {
            throw error.state == Self.noColumn ? PostgresStoreError.damaged(table: table("meta")) : error
        }
    }

    private func missingParts(_ connection: PostgresConnection) throws -> [PostgresPart] {
        let parts = parts
        let questions = parts.flatMap { [$0.isMissing(in: self), $0.isDamaged(in: self)] }
        let found = try connection.execute("SELECT " + questions.joined(separator: ", "), [])
        return try parts.indices.filter { index in
            guard !found.bool(0, 2 * index + 1) else {
                throw PostgresStoreError.damaged(table: table(parts[index].table))
            }
            return found.bool(0, 2 * index)
        }.map { parts[$0] }
    }

    /// - Parameter table: what has to be dropped if it has rows that rule the part out.
    func make(_ part: String, on table: String, _ connection: PostgresConnection) throws {
        do { try connection.execute(part) } catch {
            guard error.state?.hasPrefix(Self.constraintClass) == true else { throw error }
            throw PostgresStoreError.damaged(table: self.table(table))
        }
    }

    private static let noColumn = "42703"
    private static let constraintClass = "23"

    /// Begins a new generation, with the rows counted: every sender then delivers everything again.
    /// - Parameter generation: the generation that ends; nil for any.
    /// - Returns: how many elements were found missing; nil if that generation has ended already.
    func beginAgain(_ connection: PostgresConnection, after generation: String? = nil) throws -> Int64? {
        try connection.execute(
            """
            UPDATE \(table("meta")) AS meta SET generation = $1, sequence = meta.sequence + 1,
                lost = greatest(meta.lost, meta.created - \(rows))
            FROM (SELECT lost FROM \(table("meta"))) AS before
            WHERE meta.generation = coalesce($2, meta.generation) RETURNING meta.lost - before.lost
            """, [Self.nonce(), generation]
        ).integer(0, 0)
    }

    /// Creates a schema only if it is missing, so that a role that may not create schemas can use one that was created
    /// for it.
    func makeSchema(_ name: String, _ connection: PostgresConnection) throws {
        let found = try connection.execute("SELECT to_regnamespace($1) IS NOT NULL", ["\"\(name)\""])
        if !found.bool(0, 0) { try connection.execute("CREATE SCHEMA \"\(name)\"") }
    }

    static func nonce() -> String {
        var random = SystemRandomNumberGenerator()
        return String(random.next() as UInt64, radix: 16) + String(random.next() as UInt64, radix: 16)
    }
}
