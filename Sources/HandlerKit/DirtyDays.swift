import Changelog
import HealthModel
import SQLite
import StageKit

/// Days whose samples have changed since their figures were computed, in memory and in the stage's file.
package struct DirtyDays {
    struct Key: Hashable {
        var user: String
        /// In days since 1970.
        var day: Int

        init(user: String, day: Int) { (self.user, self.day) = (user, day) }

        /// - Parameter row: begins with the user and the day.
        init(_ row: Statement) { self.init(user: row.string(0), day: row.int(1)) }
    }

    struct Mark: Equatable {
        /// Rises with every mark: a day computed for an older mark stays dirty.
        var generation: Int64
        /// Everything up to here was consumed before the first of these marks.
        var since: SequenceNumber
    }

    /// The `since` value of days that don't hold anything up, and are computed after all others.
    static let behindEverything = SequenceNumber.end

    private(set) var marks: [Key: Mark] = [:]
    private var queue = DayQueue()
    /// Days that failed to compute, which are left out until something in them changes.
    private(set) var failed: Set<Key> = []

    /// Days that a sample can belong to. An earlier release may have marked hundreds of thousands of other days, which
    /// have no samples.
    static let possible =
        LocalDay(year: 1899, month: 12, day: 30).number...LocalDay(year: 2200, month: 1, day: 2).number

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS dirty(
                user TEXT NOT NULL, day INTEGER NOT NULL, generation INTEGER NOT NULL, since INTEGER NOT NULL,
                PRIMARY KEY (user, day)) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS failed_days(
                user TEXT NOT NULL, day INTEGER NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (user, day)) WITHOUT ROWID;
            """)
    }

    /// How many dirty days there are in a file.
    package static func count(in database: Database) throws -> Int {
        try database.prepare("SELECT count(*) FROM dirty").firstRow { $0.int(0) } ?? 0
    }

    mutating func open(_ turn: Turn) throws {
        let (first, last) = (Self.possible.lowerBound, Self.possible.upperBound)
        for table in ["dirty", "failed_days"] {
            try turn.write().database.execute("DELETE FROM \(table) WHERE day NOT BETWEEN \(first) AND \(last)")
        }
        try turn.database.prepare("SELECT user, day, generation, since FROM dirty").forEachRow {
            let key = Key($0)
            marks[key] = Mark(generation: $0.int64(2), since: SequenceNumber($0.int64(3)))
            queue.add(key)
        }
        try turn.database.prepare("SELECT user, day FROM failed_days").forEachRow { failed.insert(Key($0)) }
    }

    var count: Int { marks.count }

    /// How much of the upstream had been consumed before the oldest mark; nil when no day is dirty.
    var oldestMark: SequenceNumber? { marks.values.map(\.since).min() }

    mutating func mark(_ key: Key, since: SequenceNumber, _ turn: Turn) throws {
        var mark = marks[key] ?? Mark(generation: 0, since: since)
        // A day that was waiting behind all others, but no longer is, gets a new place in the queue.
        if mark.generation == 0 || since < mark.since { queue.add(key) }
        mark.generation += 1
        mark.since = min(mark.since, since)
        marks[key] = mark
        try turn.write().database.prepare("INSERT OR REPLACE INTO dirty VALUES (?, ?, ?, ?)")
            .with(key.user, key.day, mark.generation, mark.since.value).run()
    }

    /// The day to compute next. The newest comes first, except that days far in the future come after all others, and
    /// days computed again for a historical sync come after everything that has changed.
    mutating func next(besides busy: Set<Key>, soon: Int) -> Key? { queue.next(marks, besides: busy, soon: soon) }

    /// Records a day as failed, with the reason.
    mutating func fail(_ key: Key, reason: String, _ turn: Turn) throws {
        failed.insert(key)
        try turn.write().database.prepare("INSERT OR REPLACE INTO failed_days VALUES (?, ?, ?)")
            .with(key.user, key.day, reason).run()
    }

    mutating func succeed(_ key: Key, _ turn: Turn) throws {
        guard failed.remove(key) != nil else { return }
        try turn.write().database.prepare("DELETE FROM failed_days WHERE user = ? AND day = ?")
            .with(key.user, key.day).run()
    }

    /// Removes a mark unless the day was marked again since `generation`.
    mutating func clear(_ key: Key, generation: Int64, _ turn: Turn) throws {
        guard marks[key]?.generation == generation else { return }
        marks[key] = nil
        try turn.write().database.prepare("DELETE FROM dirty WHERE user = ? AND day = ?").with(key.user, key.day).run()
    }
}
