import HealthModel
import SQLite

/// When a store's sequences were committed: durable, in the transaction itself, and thinned with age so that it stays small.
///
/// Of the last minute each commit is kept, of the last hour one a second, of two days one a minute, before that one an hour. What lies between two
/// of them was committed by the later one.
package enum Moments {
    static let table =
        "CREATE TABLE IF NOT EXISTS moments(seq INTEGER PRIMARY KEY, at INTEGER NOT NULL)"

    /// Thins what is older than a step's age down to one in its width, the newest; microseconds.
    private static let steps: [(age: Int64, width: Int64)] = {
        let second = Instant.microsecondsPerSecond
        return [(60 * second, second), (3600 * second, 60 * second), (2 * 86_400 * second, 3600 * second)]
    }()

    static func thin(_ database: Database, now: Instant) throws {
        for step in steps {
            let delete = try database.prepare(
                """
                DELETE FROM moments WHERE at < ?1 AND seq NOT IN (
                  SELECT max(seq) FROM moments WHERE at < ?1 GROUP BY at / \(step.width))
                """)
            delete.bind(1, now.microseconds - step.age)
            try delete.run()
        }
    }

    /// A file that an earlier release wrote, and nobody has opened since, knows none.
    private static func isThere(_ database: Database) throws -> Bool {
        try database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'moments'").firstRow { _ in true } ?? false
    }

    /// The commits that brought sequences of a range, in order: up to where each reached, and when; at most so many, the oldest. A sequence
    /// was committed by the first of them that reaches it.
    package static func list(
        from first: SequenceNumber, through last: SequenceNumber, limit: Int = 2000, in database: Database
    ) throws -> [(sequence: SequenceNumber, at: Instant)] {
        guard try isThere(database) else { return [] }
        let find = try database.prepare(
            """
            SELECT seq, at FROM moments WHERE seq >= ?1 AND seq <= coalesce((SELECT min(seq) FROM moments WHERE seq >= ?2), ?2)
            ORDER BY seq LIMIT ?3
            """)
        find.bind(1, first.value)
        find.bind(2, last.value)
        find.bind(3, limit)
        var moments: [(sequence: SequenceNumber, at: Instant)] = []
        try find.forEachRow {
            moments.append((SequenceNumber($0.int64(0)), Instant(microseconds: $0.int64(1))))
        }
        return moments
    }

    /// By when a sequence had been committed; nil for one that isn't there yet, or is from before moments were kept.
    package static func time(of sequence: SequenceNumber, in database: Database) throws -> Instant? {
        try list(from: sequence, through: sequence, in: database).first?.at
    }

    /// The newest sequence that was committed before a time; the beginning when all that is known came later.
    package static func sequence(before time: Instant, in database: Database) throws -> SequenceNumber {
        guard try isThere(database) else { return .beginning }
        // A clock that was put back isn't in order: the last commit before the first that came at or after the time.
        let find = try database.prepare(
            "SELECT max(seq) FROM moments WHERE seq < coalesce((SELECT min(seq) FROM moments WHERE at >= ?), \(Int64.max))"
        )
        find.bind(1, time.microseconds)
        return SequenceNumber(try find.firstRow { $0.isNull(0) ? 0 : $0.int64(0) } ?? 0)
    }
}
