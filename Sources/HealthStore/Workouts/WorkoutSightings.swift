import HealthModel
import SQLite

/// The table `workout_sightings`, which records when each workout was first and last seen in exports and pushes.
/// Workouts with the same source and start have the same `place`.
final class WorkoutSightings {
    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS workout_sightings (user INTEGER NOT NULL, born INTEGER NOT NULL, place BLOB NOT NULL,
          id BLOB NOT NULL, second INTEGER NOT NULL, end INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
          exported INTEGER NOT NULL, importing INTEGER NOT NULL, replaced INTEGER NOT NULL,
          PRIMARY KEY (user, born)) WITHOUT ROWID
        """,
        "CREATE INDEX IF NOT EXISTS workout_places ON workout_sightings (user, place)",
        "CREATE TABLE IF NOT EXISTS workout_sightings_since (sequence INTEGER NOT NULL)",
    ]

    /// Creates the tables. When existing workouts were seen remains unknown.
    static func begin(in database: Database) throws {
        for table in tables { try database.execute(table) }
        try database.execute(
            """
            INSERT INTO workout_sightings_since SELECT coalesce(max(seq), 0) FROM heads
            WHERE NOT EXISTS (SELECT 1 FROM workout_sightings_since)
            """)
    }

    /// The import or push that contained a workout, and its time (µs since 1970).
    struct Moment {
        var at: Int64
        var isExport: Bool
    }

    private let database: Database
    private let add: Statement
    private let see: Statement
    private let confirm: Statement
    private let crowded: Statement
    private let at: Statement
    private let mark: Statement
    private let held: Statement
    private let one: Statement
    private let drop: Statement
    private let dropOlder: Statement
    private let since: Statement
    private let list: Statement
    private let replace: Statement

    init(in database: Database) throws {
        self.database = database
        add = try database.prepare(
            """
            INSERT INTO workout_sightings (user, born, place, id, second, end, first, last, exported, importing, replaced)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 0) ON CONFLICT (user, born) DO NOTHING
            """)
        see = try database.prepare(
            """
            UPDATE workout_sightings SET first = min(first, ?3), last = max(last, ?3),
              importing = CASE WHEN ?4 THEN ?3 ELSE importing END, replaced = CASE WHEN ?4 THEN replaced ELSE 0 END
            WHERE user = ?1 AND born BETWEEN ?2 AND ?5
            """)
        confirm = try database.prepare(
            "UPDATE workout_sightings SET exported = max(exported, importing) WHERE user = ?1 AND importing = ?2")
        crowded = try database.prepare(
            "SELECT place FROM workout_sightings WHERE user = ?1 GROUP BY place HAVING count(*) > 1 ORDER BY place")
        at = try database.prepare(
            """
            SELECT born, id, second, end, first, last, exported, replaced FROM workout_sightings
            WHERE user = ?1 AND place = ?2 ORDER BY born
            """)
        mark = try database.prepare("UPDATE workout_sightings SET replaced = ?3 WHERE user = ?1 AND born = ?2")
        held = try database.prepare("SELECT born FROM workout_sightings WHERE user = ?1 AND replaced = 1")
        one = try database.prepare("SELECT first, last FROM workout_sightings WHERE user = ?1 AND born = ?2")
        drop = try database.prepare("DELETE FROM workout_sightings WHERE user = ?1 AND born = ?2")
        dropOlder = try database.prepare(
            "DELETE FROM workout_sightings WHERE user = ?1 AND replaced = 1 AND last < ?2")
        list = try database.prepare("SELECT born, id, second FROM workout_sightings WHERE user = ?")
        replace = try database.prepare(
            "UPDATE workout_sightings SET place = ?3 WHERE user = ?1 AND born = ?2 AND place <> ?3")
        since = try database.prepare("SELECT max(sequence) FROM workout_sightings_since")
    }

    /// Records that a workout was seen.
    /// - Parameter place: made from its user, source and start.
    func note(_ row: StoredRow, place: SampleID, _ moment: Moment, user: Int) throws {
        let known = try since.firstNumber() ?? 0
        try add.with(
            user, row.born.value, place, row.id, row.second, row.endSecond,
            row.born.value <= known ? SeenWorkout.unknownFirst : moment.at, moment.at, SeenWorkout.neverExported
        ).run()
        try see(row.born.value...row.born.value, moment, user: user)
    }

    /// The same as above, for workouts that are already recorded.
    func see(_ born: ClosedRange<Int64>, _ moment: Moment, user: Int) throws {
        try see.with(user, born.lowerBound, moment.at, moment.isExport ? 1 : 0, born.upperBound).run()
    }

    /// Records that an export made at the given moment was read completely.
    func confirm(exported: Int64, user: Int) throws {
        try confirm.with(user, exported).run()
    }

    /// Places with several recorded workouts.
    func crowdedPlaces(user: Int) throws -> [SampleID] {
        try crowded.with(user).rows { $0.sampleID(0) }.compactMap { $0 }
    }

    /// What is recorded for a place. Activity and UUID are in the row.
    func workouts(at place: SampleID, user: Int) throws -> [SeenWorkout] {
        try at.with(user, place).rows { row in
            SeenWorkout(
                born: row.int64(0), id: try Self.id(row), second: row.int64(2), end: row.int64(3), first: row.int64(4),
                last: row.int64(5), exported: row.int64(6), activity: "", hasUUID: false, isReplaced: row.int64(7) != 0)
        }
    }

    /// The workouts of a user that are recorded.
    func all(user: Int) throws -> [(born: Int64, id: SampleID, second: Int64)] {
        try list.with(user).rows { ($0.int64(0), try Self.id($0), $0.int64(2)) }
    }

    private static func id(_ row: Statement) throws -> SampleID {
        guard let id = row.sampleID(1) else { throw HealthStoreError.damagedNotes }
        return id
    }

    func move(_ born: Int64, to place: SampleID, user: Int) throws {
        try replace.with(user, born, place).run()
    }

    /// When a workout was seen; nil if no sighting is recorded.
    func workout(born: Int64, user: Int) throws -> (first: Int64, last: Int64)? {
        return try one.with(user, born).firstRow { ($0.int64(0), $0.int64(1)) }
    }

    func mark(born: Int64, isReplaced: Bool, user: Int) throws {
        try mark.with(user, born, isReplaced ? 1 : 0).run()
    }

    /// The first sequences of the workouts that are earlier versions.
    func replaced(user: Int) throws -> Set<Int64> {
        Set(try held.with(user).rows { $0.int64(0) })
    }

    func forget(born: Int64, user: Int) throws {
        try drop.with(user, born).run()
    }

    /// Forgets earlier versions that a complete export made at the given moment lacks. They are gone, and come back
    /// only if they are seen again.
    /// - Returns: how many.
    func forgetReplaced(lastSeenBefore moment: Int64, user: Int) throws -> Int {
        try dropOlder.with(user, moment).run()
        return database.changes
    }
}
