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
        try DeadLetter.createTables(in: database)
        try DeliveryConflict.createTables(in: database)
    }

    package static func metrics(in database: Database) throws -> [String: Metric] {
        var metrics: [String: Metric] = [:]
        try database.prepare("SELECT metric, last, count FROM deliveries").forEachRow {
            metrics[$0.string(0)] = Metric(last: Instant(microseconds: $0.int64(1)), count: $0.int64(2))
        }
        return metrics
    }

    /// The address it delivers to, as of its last start or answer; nil if it never started with this release.
    package static func address(in database: Database) throws -> String? {
        let known = try database.prepare("SELECT value FROM backend WHERE key = 'known'").firstRow {
            try Value(json: $0.bytes(0))
        }
        return known?["address"].string
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
