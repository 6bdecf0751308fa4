import HealthModel
import Protocol
import SQLite
import StageKit

extension DeadLetter {
    /// The beginning of the reason for an element that the backend refused without naming it, and so without a reason.
    package static let unexplained = "the backend refuses it"

    static let columns = "number, user, metric, id, version, reason, status, at, last, tries"

    init(_ row: Statement) {
        let metric = row.string(2)
        self.init(
            number: row.int64(0), user: row.string(1), metric: metric, id: row.string(3), version: row.int64(4),
            reason: row.string(5), path: DeliveryMetric(family: metric).path, status: row.isNull(6) ? nil : row.int(6),
            firstTried: Instant(microseconds: row.int64(7)),
            lastTried: Instant(microseconds: row.isNull(8) ? row.int64(7) : row.int64(8)), tries: row.int64(9))
    }

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS dead_letters(
                number INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL, metric TEXT NOT NULL, id TEXT NOT NULL,
                version INTEGER NOT NULL, reason TEXT NOT NULL);
            """)
        try DroppedElement.createTables(in: database)
        if try !database.hasColumn("tries", in: "dead_letters") {
            // Files from the first releases don't record how often each letter was tried, or when it was last tried.
            try database.execute(
                """
                ALTER TABLE dead_letters ADD COLUMN status INTEGER;
                ALTER TABLE dead_letters ADD COLUMN last INTEGER;
                ALTER TABLE dead_letters ADD COLUMN tries INTEGER NOT NULL DEFAULT 1;
                """)
        }
        try DeliveryTables.listOnce("dead_letters", counting: "tries", in: database)
    }

    package static func count(in database: Database) throws -> Int64 {
        try DeliveryTables.elements(listedIn: "dead_letters", in: database)
    }

    /// The selected dead letters whose number is higher than a given one, oldest first.
    package static func page(
        in database: Database, _ selection: RepairSelection, after: Int64 = 0, limit: Int
    ) throws -> [DeadLetter] {
        // A file that has never been opened by this release lacks these columns, but a process of this release opens it
        // before anyone asks.
        let query = try database.prepare("SELECT \(columns) FROM dead_letters WHERE number > ? ORDER BY number")
            .with(after)
        defer { query.reset() }
        var letters: [DeadLetter] = []
        while letters.count < limit, try query.step() {
            let letter = DeadLetter(query)
            if selection.takes(number: letter.number, reason: letter.reason, type: letter.metric) {
                letters.append(letter)
            }
        }
        return letters
    }
}
