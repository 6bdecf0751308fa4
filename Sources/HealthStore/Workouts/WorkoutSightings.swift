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
        let known = try since.firstRow { $0.int64(0) } ?? 0
        add.bind(1, user)
        add.bind(2, row.born.value)
        add.bind(3, place)
        add.bind(4, row.id)
        add.bind(5, row.second)
        add.bind(6, Instant(microseconds: row.end).flooredSecond)
        add.bind(7, row.born.value <= known ? SeenWorkout.unknownFirst : moment.at)
        add.bind(8, moment.at)
        add.bind(9, SeenWorkout.neverExported)
        try add.run()
        try see(row.born.value...row.born.value, moment, user: user)
    }

    /// The same as above, for workouts that are already recorded.
    func see(_ born: ClosedRange<Int64>, _ moment: Moment, user: Int) throws {
        see.bind(1, user)
        see.bind(2, born.lowerBound)
        see.bind(3, moment.at)
        see.bind(4, moment.isExport ? 1 : 0)
        see.bind(5, born.upperBound)
        try see.run()
    }

    /// Records that an export made at the given moment was read completely.
    func confirm(exported: Int64, user: Int) throws {
        confirm.bind(1, user)
        confirm.bind(2, exported)
        try confirm.run()
    }

    /// Places with several recorded workouts.
    func crowdedPlaces(user: Int) throws -> [SampleID] {
        crowded.bind(1, user)
        var places: [SampleID] = []
        try crowded.forEachRow { if let place = $0.sampleID(0) { places.append(place) } }
        return places
    }

    /// What is recorded for a place. Activity and UUID are in the row.
    func workouts(at place: SampleID, user: Int) throws -> [SeenWorkout] {
        at.bind(1, user)
        at.bind(2, place)
        var found: [SeenWorkout] = []
        try at.forEachRow { row in
            guard let id = row.sampleID(1) else { throw HealthStoreError.damagedNotes }
            found.append(
                SeenWorkout(
                    born: row.int64(0), id: id, second: row.int64(2), end: row.int64(3), first: row.int64(4),
                    last: row.int64(5), exported: row.int64(6), activity: "", hasUUID: false,
                    isReplaced: row.int64(7) != 0))
        }
        return found
    }

    /// The workouts of a user that are recorded.
    func all(user: Int) throws -> [(born: Int64, id: SampleID, second: Int64)] {
        list.bind(1, user)
        var found: [(born: Int64, id: SampleID, second: Int64)] = []
        try list.forEachRow { row in
            guard let id = row.sampleID(1) else { throw HealthStoreError.damagedNotes }
            found.append((row.int64(0), id, row.int64(2)))
        }
        return found
    }

    func move(_ born: Int64, to place: SampleID, user: Int) throws {
        replace.bind(1, user)
        replace.bind(2, born)
        replace.bind(3, place)
        try replace.run()
    }

    /// When a workout was seen; nil if no sighting is recorded.
    func workout(born: Int64, user: Int) throws -> (first: Int64, last: Int64)? {
        one.bind(1, user)
        one.bind(2, born)
        return try one.firstRow { ($0.int64(0), $0.int64(1)) }
    }

    func mark(born: Int64, isReplaced: Bool, user: Int) throws {
        mark.bind(1, user)
        mark.bind(2, born)
        mark.bind(3, isReplaced ? 1 : 0)
        try mark.run()
    }

    /// The first sequences of the workouts that are earlier versions.
    func replaced(user: Int) throws -> Set<Int64> {
        held.bind(1, user)
        var births: Set<Int64> = []
        try held.forEachRow { births.insert($0.int64(0)) }
        return births
    }

    func forget(born: Int64, user: Int) throws {
        drop.bind(1, user)
        drop.bind(2, born)
        try drop.run()
    }

    /// Forgets earlier versions that a complete export made at the given moment lacks. They are gone, and come back
    /// only if they are seen again.
    /// - Returns: how many.
    func forgetReplaced(lastSeenBefore moment: Int64, user: Int) throws -> Int {
        dropOlder.bind(1, user)
        dropOlder.bind(2, moment)
        try dropOlder.run()
        return database.changes
    }
}
