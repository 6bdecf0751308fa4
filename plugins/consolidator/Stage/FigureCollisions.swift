import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// A handler's figure that appears in no summary because its name is already taken.
struct FigureCollision: Hashable, Comparable {
    var figure: String
    /// The handler that the figure belongs to.
    var handler: String
    /// The handler whose figure has the name; nil if a member of the summary itself has it.
    var taken: String?

    static func < (a: FigureCollision, b: FigureCollision) -> Bool { (a.figure, a.handler) < (b.figure, b.handler) }

    var details: ConsolidatorDetails.Collision { .init(figure: figure, handler: handler, taken: taken) }
}

/// The collisions of each day when it was last written, in memory and in the stage's file.
struct FigureCollisions {
    private var byDay: [SummaryDays.Key: [FigureCollision]] = [:]
    /// The number of days on which each occurs.
    private var counts: [FigureCollision: Int] = [:]

    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS collisions(
                user TEXT NOT NULL, day INTEGER NOT NULL, figure TEXT NOT NULL, handler TEXT NOT NULL, taken TEXT,
                PRIMARY KEY (user, day, figure, handler)) WITHOUT ROWID
            """)
    }

    mutating func open(_ turn: Turn) throws {
        try turn.database.prepare("SELECT user, day, figure, handler, taken FROM collisions").forEachRow { row in
            let collision = FigureCollision(
                figure: row.string(2), handler: row.string(3), taken: row.isNull(4) ? nil : row.string(4))
            byDay[SummaryDays.Key(user: row.string(0), day: row.int(1)), default: []].append(collision)
            counts[collision, default: 0] += 1
        }
    }

    /// Each once, in order.
    var all: [FigureCollision] { counts.keys.sorted() }

    /// Stores a day's collisions.
    /// - Returns: the collisions that no day had before.
    mutating func set(_ found: [FigureCollision], of key: SummaryDays.Key, _ turn: Turn) throws -> [FigureCollision] {
        let found = found.sorted()
        let old = byDay[key] ?? []
        guard found != old.sorted() else { return [] }
        let database = try turn.write().database
        try database.prepare("DELETE FROM collisions WHERE user = ? AND day = ?").with(key.user, key.day).run()
        for collision in found {
            try database.prepare("INSERT INTO collisions VALUES (?, ?, ?, ?, ?)")
                .with(key.user, key.day, collision.figure, collision.handler, collision.taken).run()
        }
        let new = found.filter { counts[$0] == nil }
        for collision in found { counts[collision, default: 0] += 1 }
        for collision in old {
            counts[collision, default: 0] -= 1
            if counts[collision] == 0 { counts[collision] = nil }
        }
        byDay[key] = found.isEmpty ? nil : found
        return new
    }
}
