import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// What the uploader stores in addition to its anchors: when it last delivered each metric, how long that took, what is
/// known about the backend, the dead letters, and the conflicts.
package enum DeliveryTables {
    /// What was delivered for one metric.
    package struct Metric: Equatable {
        package var last: Instant
        package var count: Int64

        package init(last: Instant, count: Int64) { (self.last, self.count) = (last, count) }
    }

    /// How long delivery took, by metric.
    package static let delays = ValueTable("delays", key: "metric", value: "counts")

    package static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS deliveries(metric TEXT PRIMARY KEY, last INTEGER NOT NULL, count INTEGER NOT NULL) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS backend(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
            """)
        try delays.create(in: database)
        try ProofTable.create(in: database)
        try DeadLetter.createTables(in: database)
        try DeliveryConflict.createTables(in: database)
    }

    /// Makes a list name each element once, in its newest version. Files from earlier releases list each version.
    /// - Parameter count: the column that counts how often the element was refused or seen.
    static func listOnce(_ table: String, counting count: String, in database: Database) throws {
        let find = try database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?")
        guard try !find.with("\(table)_elements").hasRow() else { return }
        func version(_ relation: String, _ name: String) -> String {
            """
            FROM \(table) AS \(name) WHERE \(name).user = \(table).user AND \(name).metric = \(table).metric
            AND \(name).id = \(table).id AND \(name).version \(relation) \(table).version
            """
        }
        // Only the newest version's row changes, so each row is counted once.
        try database.execute(
            """
            UPDATE \(table) SET (at, last, \(count)) = (
                SELECT min(at), max(coalesce(last, at)), sum(\(count)) \(version("<=", "one")))
            WHERE NOT EXISTS (SELECT 1 \(version(">", "newer")));
            DELETE FROM \(table) WHERE EXISTS (SELECT 1 \(version(">", "newer")));
            CREATE UNIQUE INDEX \(table)_elements ON \(table)(user, metric, id);
            """)
    }

    /// How many elements a list names, even in a file from an earlier release.
    static func elements(listedIn table: String, in database: Database) throws -> Int64 {
        try database.prepare("SELECT count(*) FROM (SELECT DISTINCT user, metric, id FROM \(table))")
            .firstRow { $0.int64(0) } ?? 0
    }

    /// Takes elements, in the given versions or earlier ones, out of a list.
    /// - Returns: how many rows that were.
    @discardableResult
    static func remove(
        _ elements: some Sequence<(id: String, version: Int64)>, from table: String, _ metric: DeliveryMetric,
        user: String, _ turn: Turn
    ) throws -> Int64 {
        let database = try turn.write().database
        let delete = try database.prepare(
            "DELETE FROM \(table) WHERE user = ? AND metric = ? AND id = ? AND version <= ?")
        return try elements.reduce(0) { gone, element in
            try delete.with(user, metric.rawValue, element.id, element.version).run()
            return gone + Int64(database.changes)
        }
    }

    /// Counts what was delivered of a metric now.
    package static func delivered(
        _ count: Int64, _ name: String, in metrics: inout [String: Metric], _ turn: Turn
    ) throws {
        let metric = Metric(last: turn.now, count: (metrics[name]?.count ?? 0) + count)
        metrics[name] = metric
        try turn.write().database.prepare("INSERT OR REPLACE INTO deliveries VALUES (?, ?, ?)")
            .with(name, metric.last.microseconds, metric.count).run()
    }

    package static func metrics(in database: Database) throws -> [String: Metric] {
        var metrics: [String: Metric] = [:]
        try database.prepare("SELECT metric, last, count FROM deliveries").forEachRow {
            metrics[$0.string(0)] = Metric(last: Instant(microseconds: $0.int64(1)), count: $0.int64(2))
        }
        return metrics
    }

    /// The address it delivers to, as of its last start or answer; nil if it never started with this release.
    package static func address(in database: Database) throws -> String? { try known(in: database)?["address"].string }

    /// Whether the destination has accepted something without ever saying who it is.
    package static func isTrusted(in database: Database) throws -> Bool {
        guard let known = try known(in: database), known["generation"].isNull else { return false }
        return try !metrics(in: database).isEmpty
    }

    private static func known(in database: Database) throws -> Value? {
        try database.prepare("SELECT value FROM backend WHERE key = 'known'").firstRow {
            try Value(json: $0.bytes(0))
        }
    }

    /// Whether the file belongs to a destination that has consumed or delivered something. Any other file has no such
    /// tables.
    package static func hasDelivered(_ database: Database) -> Bool {
        let used = try? database.prepare(
            "SELECT EXISTS(SELECT 1 FROM deliveries) OR EXISTS(SELECT 1 FROM cursors)"
        ).firstRow { $0.int64(0) != 0 }
        return used == true
    }

    /// How many dead letters a person has dropped.
    package static func droppedLetters(in database: Database) throws -> Int64 {
        try database.prepare("SELECT value FROM backend WHERE key = 'droppedLetters'").firstRow {
            Int64($0.string(0)) ?? 0
        } ?? 0
    }
}
