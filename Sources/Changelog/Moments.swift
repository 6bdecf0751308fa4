import HealthModel
import SQLite

/// When a store's sequence numbers were committed. This record is durable, written in the transaction itself, and
/// thinned with age so that it stays small.
///
/// Every commit of the last minute is kept, then one per second for the last hour, one per minute for two days, and one
/// per hour before that. Any sequence number between two of them was committed no later than the later one.
package enum Moments {
    static let table =
        "CREATE TABLE IF NOT EXISTS moments(seq INTEGER PRIMARY KEY, at INTEGER NOT NULL)"

    /// Moments older than a step's age are thinned: only the latest one in each interval of the step's width is kept
    /// (both in microseconds).
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
            try delete.with(now.microseconds - step.age).run()
        }
    }

    /// The commits that wrote the sequence numbers of a range, oldest first: the sequence number that each reached, and
    /// when. At most the given number of commits is returned. A sequence number was committed by the first commit that
    /// reaches it.
    package static func list(
        from first: SequenceNumber, through last: SequenceNumber, limit: Int = 2000, in database: Database
    ) throws -> [(sequence: SequenceNumber, at: Instant)] {
        guard try database.hasTable("moments") else { return [] }
        let find = try database.prepare(
            """
            SELECT seq, at FROM moments WHERE seq >= ?1 AND seq <= coalesce((SELECT min(seq) FROM moments WHERE seq >= ?2), ?2)
            ORDER BY seq LIMIT ?3
            """)
        return try find.with(first.value, last.value, limit).rows {
            (SequenceNumber($0.int64(0)), Instant(microseconds: $0.int64(1)))
        }
    }

    /// The latest time by which a sequence number had been committed: for one that is older than the recorded moments,
    /// the first of these. Nil for one after the last moment.
    package static func time(of sequence: SequenceNumber, in database: Database) throws -> Instant? {
        try list(from: sequence, through: sequence, in: database).first?.at
    }

    /// The latest sequence number that was committed before a time; the beginning if every known commit is later.
    package static func sequence(before time: Instant, in database: Database) throws -> SequenceNumber {
        guard try database.hasTable("moments") else { return .beginning }
        // If the clock was set back, moments aren't in order, so take the last commit before the first one at or after
        // the time.
        let find = try database.prepare(
            "SELECT max(seq) FROM moments WHERE seq < coalesce((SELECT min(seq) FROM moments WHERE at >= ?), \(Int64.max))"
        )
        return SequenceNumber(try find.with(time.microseconds).firstNumber() ?? 0)
    }
}
