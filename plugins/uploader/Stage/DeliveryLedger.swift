import Changelog
import HealthModel
import PluginKit
import SQLite

/// What the uploader remembers beside its anchors: which backend it delivered to, when it last delivered what, and the dead letters.
struct DeliveryLedger {
    private struct Metric: Equatable {
        var last: Instant
        var count: Int64
    }

    private var metrics: [String: Metric] = [:]
    private var backendGeneration: String?
    private var created: Int64 = 0
    private var updated: Int64 = 0
    private var known: Int64 = 0
    private(set) var deadLetters: Int64 = 0
    private var lastChecked: Instant?

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS deliveries(metric TEXT PRIMARY KEY, last INTEGER NOT NULL, count INTEGER NOT NULL) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS backend(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS dead_letters(
                number INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL, metric TEXT NOT NULL, id TEXT NOT NULL,
                version INTEGER NOT NULL, reason TEXT NOT NULL, UNIQUE (user, metric, id, version));
            """)
    }

    mutating func open(_ turn: Turn) throws {
        try turn.database.prepare("SELECT metric, last, count FROM deliveries").forEachRow {
            metrics[$0.string(0)] = Metric(last: $0.int64(1), count: $0.int64(2))
        }
        backendGeneration = try turn.database.prepare("SELECT value FROM backend WHERE key = 'generation'").firstRow {
            $0.string(0)
        }
        deadLetters = try turn.database.prepare("SELECT count(*) FROM dead_letters").firstRow { $0.int64(0) } ?? 0
    }

    mutating func checked(at now: Instant) { lastChecked = now }

    mutating func delivered(
        _ count: Int, metric: UploadMetric, created: Int, updated: Int, known: Int, _ turn: Turn
    ) throws {
        self.created += Int64(created)
        self.updated += Int64(updated)
        self.known += Int64(known)
        let total = (metrics[metric.rawValue]?.count ?? 0) + Int64(count)
        metrics[metric.rawValue] = Metric(last: turn.now, count: total)
        let write = try turn.write().database.prepare("INSERT OR REPLACE INTO deliveries VALUES (?, ?, ?)")
        write.bind(1, metric.rawValue)
        write.bind(2, turn.now)
        write.bind(3, total)
        try write.run()
    }

    /// Keeps an element aside that the backend won't take, with the reason.
    mutating func bury(
        id: String, version: Int64, metric: UploadMetric, user: String, reason: String, _ turn: Turn
    ) throws {
        turn.log.error("deadletter.added", ("metric", metric.rawValue), ("id", id), ("why", reason))
        let write = try turn.write().database.prepare(
            "INSERT OR IGNORE INTO dead_letters(at, user, metric, id, version, reason) VALUES (?, ?, ?, ?, ?, ?)")
        write.bind(1, turn.now)
        write.bind(2, user)
        write.bind(3, metric.rawValue)
        write.bind(4, id)
        write.bind(5, version)
        write.bind(6, reason)
        try write.run()
        deadLetters = try turn.database.prepare("SELECT count(*) FROM dead_letters").firstRow { $0.int64(0) } ?? 0
    }

    /// Notes which backend answered; true when it isn't the one that was delivered to before.
    mutating func backendChanged(to generation: String, _ turn: Turn) throws -> Bool {
        guard generation != backendGeneration else { return false }
        let isFirst = backendGeneration == nil
        backendGeneration = generation
        let write = try turn.write().database.prepare("INSERT OR REPLACE INTO backend VALUES ('generation', ?)")
        write.bind(1, generation)
        try write.run()
        return !isFirst
    }

    var details: [String: Value] {
        [
            "deadLetters": .integer(deadLetters), "lastChecked": lastChecked.map { .integer($0) } ?? .null,
            "lastDelivered": .object(metrics.mapValues { .integer($0.last) }),
            "delivered": .object(metrics.mapValues { .integer($0.count) }),
            "answers": ["created": .integer(created), "updated": .integer(updated), "known": .integer(known)],
        ]
    }
}
