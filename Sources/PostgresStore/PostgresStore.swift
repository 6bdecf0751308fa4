import HealthModel
import PostgreSQL

/// A store of samples, days, workouts and nights in PostgreSQL: a connection, and the tables of one schema.
///
/// It keeps every element once, at its highest version, and tombstones for good: the rules are in `docs/backend.md`.
/// Any number of stores, in any number of processes, may write to the same tables at once. Use each store on a single
/// thread.
///
///     let store = try PostgresStore(url: url, schema: schema, timeout: 30, program: "healthbus")
///     let outcome = try store.put(PostgresBatch(user: "anna", samples: page), seen: nil)
///
/// When it throws, none of the batch is stored, unless only the answer to the commit was lost; in either case the batch
/// may be sent again. If the connection is lost (`isBroken`), create another store.
package final class PostgresStore {
    package let schema: PostgresSchema
    let connection: PostgresConnection

    /// Connects, creates whatever is missing, and updates the views.
    /// - Parameters:
    ///   - timeout: the number of seconds allowed for one statement.
    ///   - program: its name in the server's list of connections.
    /// - Throws: `PostgresError`, `PostgresStoreError`.
    package init(url: String, schema: PostgresSchema, timeout: Double, program: String) throws {
        self.schema = schema
        connection = try PostgresConnection(url: url, timeout: timeout, program: program)
        let isDurable = try connection.execute("SHOW synchronous_commit", []).text(0, 0)
        // Whatever is acknowledged must survive a crash; a server that also waits for its standbys continues to do so.
        if isDurable == "off" { try connection.execute("SET synchronous_commit TO on") }
        try connection.execute(
            """
            SET statement_timeout TO \(Int(timeout * 1000)); SET idle_in_transaction_session_timeout TO \(Int(timeout * 1000));
            SET TIME ZONE 'UTC'; SET default_transaction_isolation TO 'read committed'; SET temp_buffers TO '32MB';
            SET client_min_messages TO error
            """)
        try schema.prepare(connection)
        try connection.execute(
            """
            CREATE TEMPORARY TABLE staged (
                id uuid, version bigint, deleted boolean, type text COLLATE "C", start_time timestamptz,
                end_time timestamptz, value double precision, unit text, source text, manual boolean,
                healthkit_uuid uuid, metadata jsonb, payload jsonb) ON COMMIT DELETE ROWS;
            CREATE TEMPORARY TABLE staged_documents (
                kind text COLLATE "C", id text COLLATE "C", version bigint, deleted boolean, start_time timestamptz,
                end_time timestamptz, date date, body jsonb) ON COMMIT DELETE ROWS;
            """)
    }

    /// Whether this connection can no longer be used.
    package var isBroken: Bool { connection.isBroken }
    package var address: PostgresAddress { connection.address }

    // MARK: Writing

    /// Writes a batch in one transaction; when it returns, the batch is on the server's disk.
    /// - Parameters:
    ///   - seen: the highest sequence that the caller has ever been given, with its generation. If that is the store's
    ///     generation but the store hasn't reached that sequence, the store is an older copy of itself: it begins a new
    ///     generation, under which the batch is stored.
    ///   - namesElements: whether the outcome lists the ids of the elements that were created and changed.
    package func put(
        _ batch: PostgresBatch, seen: PostgresIdentity?, namesElements: Bool = false
    ) throws -> PostgresOutcome {
        let samples = SampleRows(batch)
        let documents = DocumentRows(batch)
        // Without its partition, a sample would go to the default one. Somebody may have dropped it meanwhile.
        let missing = samples.years.isEmpty ? [] : samples.years.subtracting(try schema.partitions(connection))
        if !missing.isEmpty { try schema.makePartitions(missing.sorted(), connection) }
        if let seen { try beginAgain(unlessReached: seen) }
        return try connection.transaction {
            var outcome = PostgresOutcome(identity: PostgresIdentity(generation: "", sequence: 0))
            outcome.refused = samples.refused.merging(documents.refused) { first, _ in first }
            if samples.count > 0 {
                try upsert(
                    samples.bytes, samples.count, Self.sampleUpsert(schema), user: batch.user, namesElements, &outcome)
            }
            try putManual(samples.manual, of: batch, namesElements, &outcome)
            if documents.count > 0 {
                try upsert(
                    documents.bytes, documents.count, Self.documentUpsert(schema), user: batch.user, namesElements,
                    &outcome)
            }
            outcome.identity = try advance(outcome)
            return outcome
        }
    }

    /// Copies rows into the staging table, and from there stores them in two statements: new elements, then newer
    /// versions. If everything is new, as on a first delivery, the second statement has nothing to do.
    private func upsert(
        _ bytes: [UInt8], _ count: Int, _ statements: Upsert, user: String, _ namesElements: Bool,
        _ outcome: inout PostgresOutcome
    ) throws {
        let staged = try connection.copy(statements.copy, bytes)
        let names = namesElements ? " RETURNING id" : ""
        let created = try connection.execute(statements.insert + names, [user])
        outcome.created += Int64(created.affected)
        outcome.createdIDs += created.ids
        guard created.affected < staged else { return }
        let updated = try connection.execute(statements.update + names, [user])
        outcome.updated += Int64(updated.affected)
        outcome.updatedIDs += updated.ids
        let known = staged - created.affected - updated.affected
        outcome.known += Int64(known)
        if known > 0 { outcome.conflicts += try connection.execute(statements.conflicts, [user]).ids }
    }

    // MARK: Which store it is

    package func identity() throws -> PostgresIdentity {
        try identity(of: connection.execute("SELECT generation, sequence FROM \(schema.table("meta"))", []))
    }

    private func identity(of result: PostgresResult) throws -> PostgresIdentity {
        guard let generation = result.text(0, 0), let sequence = result.integer(0, 1) else {
            throw PostgresStoreError.noIdentity(name: schema.name)
        }
        return PostgresIdentity(generation: generation, sequence: sequence)
    }

    /// Counts the current transaction's change. Comes last, so that other writers wait only for the commit.
    private func advance(_ outcome: PostgresOutcome) throws -> PostgresIdentity {
        guard outcome.created + outcome.updated > 0 else { return try identity() }
        return try identity(
            of: connection.execute(
                """
                UPDATE \(schema.table("meta")) SET sequence = sequence + 1, created = created + $1::bigint,
                    updated = updated + $2::bigint RETURNING generation, sequence
                """, ["\(outcome.created)", "\(outcome.updated)"]))
    }

    /// A single statement, so that only one of several callers that know the same sequence starts the new generation.
    private func beginAgain(unlessReached seen: PostgresIdentity) throws {
        _ = try connection.execute(
            """
            UPDATE \(schema.table("meta")) SET generation = $1, sequence = $3::bigint
            WHERE generation = $2 AND sequence < $3::bigint
            """, [PostgresSchema.nonce(), seen.generation, "\(seen.sequence)"])
    }

    /// What it contains. Makes whatever is missing from the schema.
    /// - Parameter countsRows: counts all rows, which takes about a second for a few million. If there are fewer rows
    ///   than were created, some were removed behind the store's back; the store then begins a new generation, so that
    ///   every sender delivers everything again.
    package func holdings(countsRows: Bool) throws -> PostgresHoldings {
        let lost = try schema.prepare(connection)
        let found = try connection.execute(
            "SELECT generation, sequence, created - lost, \(countsRows ? schema.rows : "NULL") FROM \(schema.table("meta"))",
            [])
        var holdings = PostgresHoldings(
            identity: try identity(of: found), created: found.integer(0, 2) ?? 0, rows: found.integer(0, 3),
            missing: lost)
        guard let rows = holdings.rows, rows < holdings.created else { return holdings }
        let removed = try schema.beginAgain(connection, after: holdings.identity.generation)
        holdings.identity = try identity()
        holdings.created = rows
        holdings.missing = removed.map { $0 + (lost ?? 0) } ?? lost
        return holdings
    }
}

extension PostgresResult {
    /// The first column.
    fileprivate var ids: [String] { (0..<count).compactMap { text($0, 0) } }
}
