import HealthModel
import SQLite

/// Finds the dates on which a user has samples of a type, with one index seek per date instead of reading every row. It
/// can resume where it stopped.
///
/// A sample belongs to the date of its start. A sample whose value is spread over its duration (cumulative types,
/// categories) also belongs to every later date that it overlaps.
package struct DayWalk: Sendable {
    package let user: String
    package let type: String
    package let edges: DayEdges
    private var days: [Int32] = []
    /// The position from which to search for more samples; nil when all have been found.
    private var next: Int64?
    private var isSorted = true

    package init(user: String, type: String, edges: DayEdges) {
        (self.user, self.type, self.edges) = (user, type, edges)
        next = Int64.min
    }

    package var isComplete: Bool { next == nil }

    /// The first and last date of each run of consecutive dates, in order, as days since 1970.
    package var runs: [Int32] {
        var runs: [Int32] = []
        for day in isSorted ? days : Array(Set(days)).sorted() {
            if let last = runs.last, day == last + 1 { runs[runs.count - 1] = day } else { runs += [day, day] }
        }
        return runs
    }

    private mutating func add(_ day: Int) {
        let day = Int32(clamping: day)
        if let last = days.last {
            if day == last { return }
            if day < last { isSorted = false }
        }
        days.append(day)
    }

    private mutating func add(from start: Instant, to end: Instant) {
        var at = start
        let last = min(end, Instant(microseconds: start.microseconds + SampleTimes.longest))
        while at < last {
            let date = edges.date(at: at)
            add(date.day)
            at = date.end
        }
    }

    /// Continues for at most `seeks` index seeks, and subtracts those it made from `seeks`.
    mutating func advance(_ statements: Statements, user: Int, type: Int, reach: Int64, seeks: inout Int) throws {
        let kind = HealthType.named(self.type)
        let spreads = kind.style == .cumulative || kind.kind == .category
        if next == .min, spreads {
            try statements.long(user, type) { start, end in add(from: start, to: end) }
        }
        while seeks > 0, let from = next {
            seeks -= 1
            guard let start = try statements.first(user, type, from: from) else {
                if spreads, let last = days.last { try reachBeyond(last, statements, user, type, reach) }
                next = nil
                return
            }
            let date = edges.date(at: start)
            if spreads, let last = days.last, date.day > last + 1 {
                seeks -= 1
                try reachBeyond(last, statements, user, type, reach)
            }
            add(date.day)
            next = max(date.end.flooredSecond, from == .min ? .min : from + 1)
        }
    }

    /// Checks whether a sample on the last date found reaches into the next date.
    private mutating func reachBeyond(
        _ day: Int32, _ statements: Statements, _ user: Int, _ type: Int, _ reach: Int64
    ) throws {
        guard let last = next, last > .min else { return }
        let edge = Instant(microseconds: last &* Instant.microsecondsPerSecond)
        let earliest = Instant(microseconds: edge.microseconds &- reach)
        guard edges.date(at: Instant(microseconds: edge.microseconds - 1)).day == Int(day),
            let end = try statements.lastEnd(user, type, from: earliest.flooredSecond, before: last)
        else { return }
        add(from: edge, to: end)
    }

    /// The prepared statements of a connection, shared by all walks on it.
    final class Statements {
        private let blocks: BlockTable
        private let seek: Statement
        private let ends: Statement
        private let longOnes: Statement

        init(in database: Database, _ blocks: BlockTable) throws {
            self.blocks = blocks
            let alive = "WHERE user = ?1 AND type = ?2 AND state = 0"
            seek = try database.prepare(
                """
                SELECT second, start_us FROM samples INDEXED BY samples_identity \(alive) AND second >= ?3
                ORDER BY second LIMIT 1
                """)
            ends = try database.prepare(
                """
                SELECT max(\(StoredRow.countedEndSQL)) FROM samples INDEXED BY samples_identity \(alive)
                AND second >= ?3 AND second < ?4
                """)
            longOnes = try database.prepare(
                """
                SELECT second, start_us, duration FROM samples INDEXED BY samples_long \(alive)
                AND duration > \(HealthStoreSchema.longDuration) ORDER BY second
                """)
        }

        func first(_ user: Int, _ type: Int, from second: Int64) throws -> Instant? {
            let from = max(second, SampleTimes.earliest.flooredSecond)
            let row = try seek.with(user, type, from).firstRow {
                $0.int64(0) &* Instant.microsecondsPerSecond &+ $0.int64(1)
            }
            let sealed = try blocks.first(user: user, type: type, from: from)
            let start = [row, sealed].compactMap { $0 }.min().map { Instant(microseconds: $0) }
            return start.flatMap { SampleTimes.mayStart($0) ? $0 : nil }
        }

        func lastEnd(_ user: Int, _ type: Int, from second: Int64, before: Int64) throws -> Instant? {
            let row = try ends.with(user, type, second, before).firstNumber()
            let sealed = try blocks.lastEnd(user: user, type: type, seconds: second...max(second, before - 1))
            return [row, sealed].compactMap { $0 }.max().map { Instant(microseconds: $0) }
        }

        func long(_ user: Int, _ type: Int, _ body: (Instant, Instant) -> Void) throws {
            try longOnes.with(user, type).forEachRow { row in
                let start = row.int64(0) &* Instant.microsecondsPerSecond &+ row.int64(1)
                guard SampleTimes.mayStart(Instant(microseconds: start)) else { return }
                let end = SampleTimes.countedEnd(start: start, duration: row.int64(2))
                body(Instant(microseconds: start), Instant(microseconds: end))
            }
        }
    }
}
