import HealthModel
import SQLite

/// The table `heads`, with the newest sequence, counts and edges for each user and type; and `stretches`, which lists
/// where each type's rows are.
final class HeadLedger {
    private let database: Database
    private let blocks: BlockTable
    private let find: Statement
    private let write: Statement
    private let noteStretch: Statement
    private let first: Statement
    private let last: Statement
    private let longest: Statement
    private var deltas: [Int: HeadDelta] = [:]

    init(in database: Database, blocks: BlockTable) throws {
        (self.database, self.blocks) = (database, blocks)
        find = try database.prepare(
            """
            SELECT seq, alive, deleted, quarantined, first_start, last_start, last_end, reach, stale
            FROM heads WHERE user = ? AND type = ?
            """)
        write = try database.prepare("INSERT OR REPLACE INTO heads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        noteStretch = try database.prepare("INSERT OR IGNORE INTO stretches VALUES (?, ?)")
        let alive = "FROM samples INDEXED BY samples_identity WHERE user = ?1 AND type = ?2 AND state = 0"
        first = try database.prepare(
            "SELECT second, start_us \(alive) ORDER BY second")
        last = try database.prepare("SELECT second, start_us \(alive) ORDER BY second DESC")
        longest = try database.prepare(
            """
            SELECT max(e) FROM (
              SELECT max(\(StoredRow.countedEndSQL)) AS e \(alive) AND second >= ?3
              UNION ALL
              SELECT max(\(StoredRow.countedEndSQL)) FROM samples INDEXED BY samples_long
              WHERE user = ?1 AND type = ?2 AND duration > \(HealthStoreSchema.longDuration) AND state = 0)
            """)
    }

    func forget() { deltas.removeAll() }

    /// The time between the first start and the last end of a type's samples, in seconds since 1970; nil if there are
    /// none. Changes that haven't been written yet aren't included.
    func times(user: Int, type: Int) throws -> ClosedRange<Int64>? {
        let head = try current(user: user, type: type)
        guard let first = head.firstStart, let last = head.lastEnd, first <= last else { return nil }
        return Instant(microseconds: first).flooredSecond...Instant(microseconds: last).flooredSecond
    }

    /// The longest duration among a type's samples of at most a day, in seconds, rounded up.
    func reach(user: Int, type: Int) throws -> Int64 {
        try current(user: user, type: type).reach / Instant.microsecondsPerSecond + 1
    }

    func enter(_ row: StoredRow) { deltas[row.type, default: HeadDelta()].enter(row) }

    /// Records that a row was written to the table of rows.
    func note(_ row: StoredRow) { deltas[row.type, default: HeadDelta()].note(row) }

    func replace(_ old: StoredRow, with new: StoredRow) {
        if old.state == new.state, old.start == new.start, old.duration == new.duration {
            deltas[new.type, default: HeadDelta()].touch(new)
            return
        }
        deltas[new.type, default: HeadDelta()].leave(old)
        deltas[new.type, default: HeadDelta()].enter(new)
    }

    /// Writes the collected changes. Without `settle`, edges that may have moved inwards remain as bounds and are
    /// marked stale: looking them up after every part of a long delete would walk through the deleted rows again and
    /// again.
    func flush(user: Int, settle: Bool) throws {
        for (type, delta) in deltas.sorted(by: { $0.key < $1.key }) {
            var head = try current(user: user, type: type)
            head.apply(delta)
            if head.stale, settle { try look(up: &head, user: user, type: type) }
            try store(head, user: user, type: type)
            for stretch in delta.stretches {
                try noteStretch.with(type, stretch).run()
            }
        }
        deltas.removeAll(keepingCapacity: true)
    }

    /// Writes the collected changes, and looks up the edges of all types that a long delete has left stale.
    func finish(user: Int) throws {
        try flush(user: user, settle: false)
        let stale = try database.prepare("SELECT type FROM heads WHERE user = ? AND stale = 1")
        let types = try stale.with(user).rows { $0.int(0) }
        for type in types {
            var head = try current(user: user, type: type)
            try look(up: &head, user: user, type: type)
            try store(head, user: user, type: type)
        }
    }

    private struct Head {
        var sequence = SequenceNumber.beginning
        var alive = 0
        var deleted = 0
        var quarantined = 0
        var firstStart: Int64?
        var lastStart: Int64?
        var lastEnd: Int64?
        var reach: Int64 = 0
        var stale = false

        mutating func apply(_ delta: HeadDelta) {
            sequence = max(sequence, delta.sequence)
            alive += delta.alive
            deleted += delta.deleted
            quarantined += delta.quarantined
            reach = max(reach, delta.reach)
            if delta.lostFirstStart <= firstStart ?? .min { stale = true }
            if delta.lostLastStart >= lastStart ?? .max || delta.lostLastEnd >= lastEnd ?? .max { stale = true }
            guard delta.firstStart != .max else { return }
            firstStart = min(firstStart ?? .max, delta.firstStart)
            lastStart = max(lastStart ?? .min, delta.lastStart)
            lastEnd = max(lastEnd ?? .min, delta.lastEnd)
            // A row may have been added and removed again within one batch.
            if delta.lostFirstStart != .max { stale = true }
        }
    }

    private func current(user: Int, type: Int) throws -> Head {
        return try find.with(user, type).firstRow { row in
            Head(
                sequence: SequenceNumber(row.int64(0)), alive: row.int(1), deleted: row.int(2), quarantined: row.int(3),
                firstStart: row.optional(4), lastStart: row.optional(5),
                lastEnd: row.optional(6), reach: row.int64(7), stale: row.int64(8) != 0)
        } ?? Head()
    }

    private func store(_ head: Head, user: Int, type: Int) throws {
        try write.with(
            user, type, head.sequence.value, head.alive, head.deleted, head.quarantined, head.firstStart,
            head.lastStart, head.lastEnd, head.reach, head.stale ? 1 : 0
        ).run()
    }

    private func look(up head: inout Head, user: Int, type: Int) throws {
        head.firstStart = try nearer(
            edge(first, user: user, type: type, better: <), blocks.first(user: user, type: type, from: .min), min)
        head.lastStart = try nearer(
            edge(last, user: user, type: type, better: >), blocks.last(user: user, type: type), max)
        head.lastEnd = nil
        head.stale = false
        guard let lastStart = head.lastStart else { return }
        let from = Instant(microseconds: lastStart &- head.reach).flooredSecond
        head.lastEnd = try nearer(
            longest.with(user, type, from).firstNumber(),
            blocks.lastEnd(user: user, type: type, seconds: from...Int64.max), max)
    }

    private func nearer(_ a: Int64?, _ b: Int64?, _ better: (Int64, Int64) -> Int64) -> Int64? {
        guard let a, let b else { return a ?? b }
        return better(a, b)
    }

    /// The edge among the rows of the outermost second. These rows must be compared, because the index sorts only by
    /// second.
    private func edge(
        _ statement: Statement, user: Int, type: Int, better: (Int64, Int64) -> Bool
    ) throws -> Int64? {
        defer { statement.reset() }
        let statement = statement.with(user, type)
        var best: Int64?
        var second: Int64?
        while try statement.step() {
            let found = statement.int64(0)
            if let second, second != found { break }
            second = found
            let start = found &* 1_000_000 &+ statement.int64(1)
            if best.map({ better(start, $0) }) ?? true { best = start }
        }
        return best
    }
}
