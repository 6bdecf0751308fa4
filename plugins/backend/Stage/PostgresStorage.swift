import HTTP
import HealthModel
import PostgreSQL
import PostgresStore
import Protocol

/// Tables in PostgreSQL, which any number of backends share: what one commits, the others return.
///
/// Nothing is remembered here except the counts for one state, so it doesn't matter which backend is asked. A broken
/// connection is replaced for the next request.
final class PostgresStorage: BackendStorage {
    let schema: PostgresSchema
    private let url: String
    private let address: PostgresAddress
    private var connections: (store: PostgresStore, questions: PostgresConnection)?
    /// The counts for a state, by user.
    private var counted: (state: BackendState, holdings: [String?: BackendHoldings])?

    private static let program = "healthbus backend"
    /// Seconds allowed for a statement.
    private static let timeout: Double = 30

    /// Connects at the first request.
    /// - Throws: `PostgresError` for a URL that can't be read.
    init(url: String, schema: PostgresSchema) throws {
        (self.url, self.schema) = (url, schema)
        address = try PostgresAddress(url: url)
    }

    /// Always true: requests to an unreachable database fail.
    var isInPlace: Bool { true }

    // MARK: Connections

    /// Runs `body` on a working connection, and drops one that no longer works.
    func connected<Answer>(
        _ body: (_ store: PostgresStore, _ questions: PostgresConnection) throws -> Answer
    ) throws -> Answer {
        do {
            let (store, questions) = try connections ?? connect()
            connections = (store, questions)
            defer { if store.isBroken || questions.isBroken { connections = nil } }
            return try body(store, questions)
        } catch let error as PostgresError {
            // The tables have changed: they are examined again, and created if they are missing.
            if error.meansOtherTables { (connections, counted) = (nil, nil) }
            throw BackendError.database("\(error)")
        } catch let error as PostgresStoreError {
            (connections, counted) = (nil, nil)
            throw BackendError.database("\(address): \(error)")
        }
    }

    private func connect() throws -> (PostgresStore, PostgresConnection) {
        let store = try PostgresStore(url: url, schema: schema, timeout: Self.timeout, program: Self.program)
        let questions = try PostgresConnection(url: url, timeout: Self.timeout, program: Self.program)
        try questions.execute("SET TIME ZONE 'UTC'; SET statement_timeout TO \(Int(Self.timeout * 1000))")
        return (store, questions)
    }

    /// What a backend needs besides the store's own tables: counts of its answers, and an index of times that ids don't
    /// contain.
    static let parts: [PostgresPart] = [
        .table(
            "answered",
            columns: [
                "only_row boolean DEFAULT true", "known bigint NOT NULL DEFAULT 0", "refused bigint NOT NULL DEFAULT 0",
            ]),
        .primaryKey("only_row", of: "answered"), .check("only_row", of: "answered"),
        .index("samples_apart", on: "samples", "(user_id, start_time) WHERE \(isApart)"),
    ]

    func table(_ name: String) -> String { "\"\(schema.name)\".\(name)" }

    /// The rows that a search by id range would miss, as in `StoredTimes.areImplied`.
    static let isApart: String = {
        let shift =
            "start_time - to_timestamp(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0)"
        return """
            NOT deleted AND NOT (\(shift) >= interval '0' AND \(shift) < interval '1 second'
                AND end_time - start_time <= interval '1 hour')
            """
    }()

    // MARK: Which database it is

    func reading<Answer>(_ body: (BackendState) throws -> Answer) throws -> Answer {
        try connected { _, questions in
            // Everything is read from one state, whatever other backends commit in the meantime.
            try questions.transaction {
                try questions.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                let meta = try questions.execute("SELECT generation, sequence FROM \(table("meta"))", [])
                guard let generation = meta.text(0, 0), let sequence = meta.integer(0, 1) else {
                    throw PostgresStoreError.noIdentity(name: schema.name)
                }
                return try body(BackendState(generation: generation, sequence: sequence))
            }
        }
    }

    func beginAgain(unlessReached seen: SeenBackend) throws -> Int64? {
        try connected { store, _ in
            let held = BackendState(try store.identity())
            guard seen.isBeyond(held) else { return nil }
            _ = try store.put(
                PostgresBatch(user: ""),
                seen: PostgresIdentity(generation: seen.generation, sequence: seen.sequence))
            return held.sequence
        }
    }

    func repairRows() throws -> Int64? {
        try connected { store, _ in
            counted = nil
            return try store.holdings(countsRows: true).missing.flatMap { $0 > 0 ? $0 : nil }
        }
    }

    // MARK: What it holds

    func holdings(of user: String?) throws -> BackendHoldings {
        try reading { state in
            if let counted, counted.state == state, let holdings = counted.holdings[user] {
                return try withCounters(holdings)
            }
            let holdings = try count(user)
            if counted?.state != state { counted = (state, [:]) }
            counted?.holdings[user] = holdings
            return try withCounters(holdings)
        }
    }

    /// Walks through all rows, since concurrent writers would block one another on shared counts.
    private func count(_ user: String?) throws -> BackendHoldings {
        try connected { _, questions in
            let filter = user == nil ? "" : "WHERE user_id = $1"
            let values = user.map { [$0] } ?? []
            let counts = "count(*) FILTER (WHERE NOT deleted), count(*) FILTER (WHERE deleted)"
            var holdings = BackendHoldings()
            let types = try questions.execute(
                "SELECT coalesce(type, ''), \(counts) FROM \(table("samples")) \(filter) GROUP BY 1 ORDER BY 1", values)
            for row in 0..<types.count {
                holdings.types.append((types.text(row, 0) ?? "", types.count(of: row)))
            }
            let kinds = try questions.execute(
                "SELECT kind, \(counts) FROM \(table("documents")) \(filter) GROUP BY 1", values)
            for row in 0..<kinds.count {
                guard let kind = DocumentKind.allCases.first(where: { $0.stored.rawValue == kinds.text(row, 0) }) else {
                    continue
                }
                holdings.documents[kind] = kinds.count(of: row)
            }
            return holdings
        }
    }

    private func withCounters(_ holdings: BackendHoldings) throws -> BackendHoldings {
        try connected { _, questions in
            var holdings = holdings
            let names = ["created", "updated", "lost", "known", "refused"]
            let found = try questions.execute(
                "SELECT \(names.joined(separator: ", ")) FROM \(table("meta")) LEFT JOIN \(table("answered")) ON true",
                [])
            for (column, name) in names.enumerated() { holdings.counters[name] = found.integer(0, column) ?? 0 }
            return holdings
        }
    }
}

extension BackendState {
    init(_ identity: PostgresIdentity) { self.init(generation: identity.generation, sequence: identity.sequence) }
}

extension DocumentKind {
    /// The kind's name in the table.
    var stored: PostgresDocument.Kind {
        switch self {
        case .day: .day
        case .workout: .workout
        case .night: .night
        }
    }
}

extension PostgresResult {
    fileprivate func count(of row: Int) -> BackendHoldings.Count {
        BackendHoldings.Count(alive: integer(row, 1) ?? 0, deleted: integer(row, 2) ?? 0)
    }
}
