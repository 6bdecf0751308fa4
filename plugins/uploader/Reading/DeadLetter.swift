import HealthModel
import SQLite
import StageKit

/// An element that the backend wouldn't take: which one, in which version, and why. What it holds isn't kept: the truth is asked for it.
package struct DeadLetter: Sendable, Equatable {
    /// Rises with each of them.
    package var number: Int64
    package var user: String
    /// The metric family by whose path it goes.
    package var metric: String
    package var id: String
    package var version: Int64
    package var reason: String
    /// The HTTP status of the answer; nil when it isn't known.
    package var status: Int?
    package var firstTried: Instant
    package var lastTried: Instant
    package var tries: Int64

    static let columns = "number, user, metric, id, version, reason, status, at, last, tries"

    init(_ row: Statement) {
        number = row.int64(0)
        user = row.string(1)
        metric = row.string(2)
        id = row.string(3)
        version = row.int64(4)
        reason = row.string(5)
        status = row.isNull(6) ? nil : row.int(6)
        firstTried = row.int64(7)
        lastTried = row.isNull(8) ? row.int64(7) : row.int64(8)
        tries = row.int64(9)
    }

    /// The path that it is sent to.
    package var path: String { UploadMetric(family: metric).path }

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS dead_letters(
                number INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL, metric TEXT NOT NULL, id TEXT NOT NULL,
                version INTEGER NOT NULL, reason TEXT NOT NULL, UNIQUE (user, metric, id, version));
            """)
        guard try !isKnown("tries", in: database) else { return }
        // Files of the first releases say neither how often nor when last.
        try database.execute(
            """
            ALTER TABLE dead_letters ADD COLUMN status INTEGER;
            ALTER TABLE dead_letters ADD COLUMN last INTEGER;
            ALTER TABLE dead_letters ADD COLUMN tries INTEGER NOT NULL DEFAULT 1;
            """)
    }

    private static func isKnown(_ column: String, in database: Database) throws -> Bool {
        let find = try database.prepare("SELECT 1 FROM pragma_table_info('dead_letters') WHERE name = ?")
        find.bind(1, column)
        return try find.firstRow { _ in true } ?? false
    }

    package static func count(in database: Database) throws -> Int64 {
        try database.prepare("SELECT count(*) FROM dead_letters").firstRow { $0.int64(0) } ?? 0
    }

    /// Those of a selection, oldest first, beyond a number.
    package static func page(
        in database: Database, _ selection: MendSelection, after: Int64 = 0, limit: Int
    ) throws -> [DeadLetter] {
        // A file that has never run with this release has no such columns; it has been opened by one before anybody asks.
        let query = try database.prepare("SELECT \(columns) FROM dead_letters WHERE number > ? ORDER BY number")
        query.bind(1, after)
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

extension DeadLetter {
    package var wireValue: Value {
        [
            "number": .integer(number), "user": .string(user), "metric": .string(metric), "id": .string(id),
            "version": .integer(version), "reason": .string(reason), "path": .string(path),
            "status": status.map { .integer(Int64($0)) } ?? .null, "firstTried": .integer(firstTried),
            "lastTried": .integer(lastTried), "tries": .integer(tries),
        ]
    }

    /// nil when the value isn't one.
    package init?(wireValue value: Value) {
        guard let number = value["number"].int, let user = value["user"].string, let metric = value["metric"].string,
            let id = value["id"].string, let version = value["version"].int, let reason = value["reason"].string,
            let first = value["firstTried"].int, let last = value["lastTried"].int, let tries = value["tries"].int
        else { return nil }
        self.number = number
        self.user = user
        self.metric = metric
        self.id = id
        self.version = version
        self.reason = reason
        status = value["status"].int.map { Int($0) }
        firstTried = first
        lastTried = last
        self.tries = tries
    }
}
