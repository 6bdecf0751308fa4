import PostgreSQL

extension PostgresSchema {
    /// Creates the tables if there are none, and the views that are missing or have changed. Version 1 is the only one
    /// so far, so there are no older tables to update.
    /// - Throws: `PostgresError`, or `PostgresStoreError` for tables of another version, which are left unchanged.
    func prepare(_ connection: PostgresConnection) throws {
        try connection.transaction {
            // Another process that starts at the same time waits here, and then finds everything done.
            _ = try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", ["healthbus " + name])
            switch try version(connection) {
            case nil:
                try make(connection)
            case Self.version: break
            case let found?:
                throw PostgresStoreError.schema(name: name, version: found, known: Self.version)
            }
            try prepareViews(connection)
        }
    }

    /// nil if there are no tables yet.
    /// - Throws: `PostgresStoreError.noIdentity` if there are, but somebody has emptied `meta`.
    private func version(_ connection: PostgresConnection) throws -> Int64? {
        let found = try connection.execute("SELECT to_regclass($1) IS NOT NULL", [table("meta")])
        guard found.bool(0, 0) else { return nil }
        let version = try connection.execute("SELECT schema_version FROM \(table("meta"))", []).integer(0, 0)
        guard let version else { throw PostgresStoreError.noIdentity(name: name) }
        return version
    }

    private func make(_ connection: PostgresConnection) throws {
        try makeSchema(name, connection)
        try connection.execute(tables)
        _ = try connection.execute(
            "INSERT INTO \(table("meta")) (schema_version, generation, sequence) VALUES ($1, $2, 0)",
            ["\(Self.version)", Self.nonce()])
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
