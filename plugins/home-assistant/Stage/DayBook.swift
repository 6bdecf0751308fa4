import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// Which days the consolidator has, and the summaries of those that sensors may show: the others' content isn't kept.
///
/// A change is applied at once and saved later, in the transaction of the anchor that covers it.
struct DayBook {
    private struct Key: Hashable {
        var user: String
        var day: Int
    }

    private struct Entry {
        /// The history that last reported it: what a newer one doesn't report is gone.
        var generation: String
        /// nil for a day that no sensor shows.
        var body: Value?
    }

    private var users: [String: [Int: Entry]] = [:]
    private var unsaved: Set<Key> = []

    /// A zone change moves a person's today by a day at most; and days begin up to a day before UTC's.
    private static let reach = 3

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS days(
                user TEXT NOT NULL, day INTEGER NOT NULL, generation TEXT NOT NULL, body TEXT,
                PRIMARY KEY(user, day)) WITHOUT ROWID;
            """)
    }

    mutating func open(_ turn: Turn) throws {
        try turn.database.prepare("SELECT user, day, generation, body FROM days").forEachRow { row in
            users[row.string(0), default: [:]][row.int(1)] = Entry(
                generation: row.string(2), body: row.isNull(3) ? nil : try Value(json: row.bytes(3)))
        }
    }

    /// Users with at least one day.
    var people: [String] { users.filter { !$0.value.isEmpty }.keys.sorted() }

    func summary(of user: String, _ day: LocalDay) -> Value? { users[user]?[day.number]?.body }

    /// - Parameter generation: of the store that reports it.
    mutating func apply(_ row: ChangedRow, generation: String, now: Instant) {
        guard let day = row.day else { return }
        if let body = row.body {
            let isKept = day >= Self.oldest(now)
            users[row.user, default: [:]][day] = Entry(generation: generation, body: isKept ? body : nil)
        } else {
            users[row.user]?[day] = nil
        }
        unsaved.insert(Key(user: row.user, day: day))
    }

    /// Removes days that only an older history has reported.
    mutating func keep(only generation: String) {
        for (user, days) in users {
            for (day, entry) in days where entry.generation != generation {
                users[user]?[day] = nil
                unsaved.insert(Key(user: user, day: day))
            }
        }
    }

    /// Drops the content of days that no sensor shows any more.
    mutating func prune(now: Instant) {
        let oldest = Self.oldest(now)
        for (user, days) in users {
            for (day, entry) in days where day < oldest && entry.body != nil {
                users[user]?[day]?.body = nil
                unsaved.insert(Key(user: user, day: day))
            }
        }
    }

    mutating func save(_ turn: Turn) throws {
        guard !unsaved.isEmpty else { return }
        let database = try turn.write().database
        let put = try database.prepare("INSERT OR REPLACE INTO days VALUES (?, ?, ?, ?)")
        let remove = try database.prepare("DELETE FROM days WHERE user = ? AND day = ?")
        for key in unsaved {
            if let entry = users[key.user]?[key.day] {
                put.bind(1, key.user)
                put.bind(2, key.day)
                put.bind(3, entry.generation)
                if let body = entry.body { put.bind(4, body.json()) } else { put.bindNull(4) }
                try put.run()
            } else {
                remove.bind(1, key.user)
                remove.bind(2, key.day)
                try remove.run()
            }
        }
        unsaved = []
    }

    mutating func clear(_ turn: Turn) throws {
        users = [:]
        unsaved = []
        try turn.write().database.execute("DELETE FROM days")
    }

    private static func oldest(_ now: Instant) -> Int {
        Int((now.microseconds / 86_400_000_000)) - reach
    }
}
