import HealthModel
import SQLite

/// Samples that HealthKit stored more than a day after they had ended, counted by user, type and date of their start.
///
/// The table of samples is its own changelog, so only rows that changed since the last look are read.
package struct LateArrivals {
    package struct Day: Sendable, Hashable {
        package var count: Int32 = 0
        /// Seconds from a sample's end to when it was stored, of the latest.
        package var longest: Int64 = 0
    }

    struct Key: Hashable {
        var user: Int
        var type: Int
    }

    /// Stored this long after their end, samples are late.
    package static let patience: Int64 = 86_400

    private(set) var days: [Key: [Int32: Day]] = [:]
    /// Rows up to here are counted as they were then.
    private var covered = SequenceNumber.beginning
    /// The pass under way: rows above `base`, up to `target`.
    private var base = SequenceNumber.beginning
    private var target = SequenceNumber.beginning

    package init() {}

    /// Goes on for at most `rows` rows, which it takes off.
    /// - Parameter edges: nil leaves a row's type out.
    /// - Returns: whether every row of the store is counted.
    mutating func advance(
        _ statements: Statements, head: SequenceNumber, rows: inout Int, edges: (Key) throws -> DayEdges?
    ) throws -> Bool {
        while covered < head || covered < target {
            guard rows > 0 else { return false }
            if covered >= target {
                base = covered
                target = head
            }
            let end = try statements.end(after: covered, through: target, rows: &rows)
            var wasCounted = false
            try statements.changed(after: covered, through: end, base: base) { row in
                let key = Key(user: row.int(2), type: row.int(3))
                guard let edges = try edges(key) else { return }
                let start = Instant(microseconds: row.int64(5) &* Instant.microsecondsPerSecond)
                let number = Int32(clamping: edges.date(at: start).day)
                let known = days[key]?[number]
                let born = row.int64(1) == 0 ? row.int64(0) : row.int64(1)
                // It was looked at before it changed, and may have been counted.
                if born <= base.value, known != nil { wasCounted = true }
                let delay = row.int64(6)
                guard row.int64(4) == 0, delay > Self.patience else { return }
                var day = known ?? Day()
                day.count += 1
                day.longest = max(day.longest, delay)
                days[key, default: [:]][number] = day
            }
            covered = end
            if wasCounted { self = LateArrivals() }
        }
        return true
    }

    /// The statements of a connection.
    final class Statements {
        private let step: Statement
        private let rows: Statement

        init(in database: Database) throws {
            step = try database.prepare("SELECT seq FROM samples WHERE seq > ? ORDER BY seq LIMIT 1 OFFSET ?")
            rows = try database.prepare(
                """
                SELECT seq, born, user, type, state, second, created - second - duration / 1000000 FROM samples
                WHERE seq > ?1 AND seq <= ?2
                AND (created - second - duration / 1000000 > \(LateArrivals.patience) OR (born > 0 AND born <= ?3))
                """)
        }

        /// Where to end so that about `rows` rows are read.
        func end(after: SequenceNumber, through: SequenceNumber, rows: inout Int) throws -> SequenceNumber {
            let count = min(rows, 25_000)
            rows -= count
            step.bind(1, after.value)
            step.bind(2, count - 1)
            return min(try step.firstRow { SequenceNumber($0.int64(0)) } ?? through, through)
        }

        /// The rows of a window that are late, and those that were there at `base` already.
        func changed(
            after: SequenceNumber, through: SequenceNumber, base: SequenceNumber, _ body: (Statement) throws -> Void
        ) throws {
            rows.bind(1, after.value)
            rows.bind(2, through.value)
            rows.bind(3, base.value)
            try rows.forEachRow(body)
        }
    }
}
