import Changelog
import Foundation
import HealthModel
import Protocol
import SQLite
import StageKit

/// The people whose days the consolidator has, and the summaries of the days that sensors may show. Of all other days
/// only the dates are kept, as ranges. A person with no days left is removed.
///
/// A change is applied at once and saved later, in the transaction of the anchor that covers it.
struct DayBook {
    private struct Person {
        /// The dates of the person's days, by the history that last reported them; dates that a newer history doesn't
        /// report are gone.
        var days: [String: DateSet] = [:]
        /// The summaries of days that may be shown.
        var summaries: [Int: Value] = [:]
    }

    private struct Key: Hashable {
        var user: String
        var day: Int
    }

    private var people: [String: Person] = [:]
    private var unsavedPeople: Set<String> = []
    private var unsavedDays: Set<Key> = []
    /// Users whose days in reach have changed since the last `takeChanged`.
    private var changed: Set<String> = []
    /// The first day whose summary is kept; nil before anything was left out.
    private var first: Int?
    private static let kept = ValueTable("kept")

    /// A zone change moves a person's current day by one day at most; and days begin up to a day before UTC's.
    private static let reach = 3

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS dates(
                user TEXT NOT NULL, generation TEXT NOT NULL, ranges TEXT NOT NULL,
                PRIMARY KEY(user, generation)) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS summaries(
                user TEXT NOT NULL, day INTEGER NOT NULL, body TEXT NOT NULL,
                PRIMARY KEY(user, day)) WITHOUT ROWID;
            """)
    }

    mutating func open(_ turn: Turn) throws {
        first = try Self.kept.value("first", in: turn.database)?.int.map { Int($0) }
        try turn.database.prepare("SELECT user, generation, ranges FROM dates").forEachRow { row in
            people[row.string(0), default: Person()].days[row.string(1)] = DateSet(
                wireValue: try Value(json: row.bytes(2)))
        }
        try turn.database.prepare("SELECT user, day, body FROM summaries").forEachRow { row in
            people[row.string(0), default: Person()].summaries[row.int(1)] = try Value(json: row.bytes(2))
        }
        changed.formUnion(people.keys)
    }

    /// Whether summaries were left out that may be shown after all: the clock was ahead, and was set back.
    func lacksDays(now: Instant) -> Bool { first.map { Self.oldest(now) < $0 } ?? false }

    /// Whether a user has at least one day.
    func knows(_ user: String) -> Bool { people[user] != nil }

    /// Users with at least one day.
    var users: [String] { people.keys.sorted() }

    func summary(of user: String, _ day: LocalDay) -> Value? { people[user]?.summaries[day.number] }

    /// Users whose sensors may have something different to show since the last call.
    mutating func takeChanged() -> Set<String> {
        defer { changed = [] }
        return changed
    }

    /// - Parameter generation: the generation of the store that reports it.
    mutating func apply(_ row: ChangedRow, generation: String, now: Instant) {
        guard let day = row.day else { return }
        let (user, existed) = (row.user, people[row.user] != nil)
        var person = people[user] ?? Person()
        var isElsewhere = false
        for (other, dates) in person.days where dates.contains(day) {
            if other == generation, row.body != nil {
                isElsewhere = true
            } else {
                person.days[other]?.remove(day)
                unsavedPeople.insert(user)
            }
        }
        if row.body != nil, !isElsewhere {
            person.days[generation, default: DateSet()].insert(day)
            unsavedPeople.insert(user)
        }
        person.days = person.days.filter { !$0.value.isEmpty }
        let kept = day >= begin(at: now) ? row.body : nil
        if person.summaries[day] != kept {
            person.summaries[day] = kept
            unsavedDays.insert(Key(user: user, day: day))
            changed.insert(user)
        }
        put(user, person)
        if existed != (people[user] != nil) { changed.insert(user) }
    }

    private mutating func put(_ user: String, _ person: Person) {
        people[user] = person.days.isEmpty ? nil : person
    }

    /// Removes days that only an older history has reported.
    mutating func keep(only generation: String) {
        for (user, var person) in people where person.days.contains(where: { $0.key != generation }) {
            let days = person.days[generation]
            person.days = days.map { [generation: $0] } ?? [:]
            unsavedPeople.insert(user)
            changed.insert(user)
            for day in person.summaries.keys where days?.contains(day) != true {
                person.summaries[day] = nil
                unsavedDays.insert(Key(user: user, day: day))
            }
            put(user, person)
        }
    }

    /// Drops the summaries of days that no sensor shows any more.
    mutating func prune(now: Instant) {
        let oldest = begin(at: now)
        for (user, person) in people {
            for day in person.summaries.keys where day < oldest {
                people[user]?.summaries[day] = nil
                unsavedDays.insert(Key(user: user, day: day))
            }
        }
    }

    /// - Returns: the first day whose summary is kept from now on.
    private mutating func begin(at now: Instant) -> Int {
        let oldest = max(first ?? .min, Self.oldest(now))
        first = oldest
        return oldest
    }

    /// From here on, the days that may be shown now are kept: the caller reads all days again.
    mutating func beginAgain(_ turn: Turn) throws {
        first = Self.oldest(turn.now)
        try Self.kept.set("first", to: Value(first), turn)
    }

    mutating func save(_ turn: Turn) throws {
        guard !unsavedPeople.isEmpty || !unsavedDays.isEmpty else { return }
        let database = try turn.write().database
        try Self.kept.set("first", to: Value(first), turn)
        try savePeople(database)
        try saveDays(database)
    }

    private mutating func savePeople(_ database: Database) throws {
        let remove = try database.prepare("DELETE FROM dates WHERE user = ?")
        let put = try database.prepare("INSERT INTO dates VALUES (?, ?, ?)")
        for user in unsavedPeople {
            try remove.with(user).run()
            for (generation, dates) in people[user]?.days ?? [:] {
                try put.with(user, generation, dates.wireValue.json()).run()
            }
        }
        unsavedPeople = []
    }

    private mutating func saveDays(_ database: Database) throws {
        let put = try database.prepare("INSERT OR REPLACE INTO summaries VALUES (?, ?, ?)")
        let remove = try database.prepare("DELETE FROM summaries WHERE user = ? AND day = ?")
        for key in unsavedDays {
            if let body = people[key.user]?.summaries[key.day] {
                try put.with(key.user, key.day, body.json()).run()
            } else {
                try remove.with(key.user, key.day).run()
            }
        }
        unsavedDays = []
    }

    mutating func clear(_ turn: Turn) throws {
        changed.formUnion(people.keys)
        (people, first) = ([:], nil)
        (unsavedPeople, unsavedDays) = ([], [])
        try turn.write().database.execute("DELETE FROM dates; DELETE FROM summaries")
        try Self.kept.remove("first", turn)
    }

    private static func oldest(_ now: Instant) -> Int {
        Int((now.microseconds / 86_400_000_000)) - reach
    }
}
