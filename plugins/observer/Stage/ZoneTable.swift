import Changelog
import HealthModel
import PluginKit
import SQLite

/// The users' zone timelines: data of the observer's changelog, so that every stage sees the same days.
enum ZoneTable {
    static func createTables(in database: Database) throws {
        try database.execute(
            "CREATE TABLE IF NOT EXISTS zone_timelines(user TEXT PRIMARY KEY, seq INTEGER NOT NULL, timeline TEXT NOT NULL) WITHOUT ROWID"
        )
    }

    /// Begins a user's timeline with a zone unless the user has one: a stack that is started elsewhere later doesn't move the past.
    static func ensure(user: String, zone: String, _ turn: Turn) throws {
        let find = try turn.database.prepare("SELECT 1 FROM zone_timelines WHERE user = ?")
        find.bind(1, user)
        guard try find.firstRow({ _ in true }) == nil else { return }
        let stage = try turn.write()
        let insert = try stage.database.prepare("INSERT INTO zone_timelines VALUES (?, ?, ?)")
        insert.bind(1, user)
        insert.bind(2, stage.nextSequence())
        insert.bind(3, try ZoneTimeline(zone: zone).wireValue.json())
        try insert.run()
        turn.log.info("zone.set", ("zone", zone))
    }

    /// The timelines that changed in a window, and those of `users`; by user.
    static func read(_ database: Database, after: Int64, through: Int64, users: Set<String>) throws -> Value {
        var timelines: [String: Value] = [:]
        try database.prepare("SELECT user, seq, timeline FROM zone_timelines").forEachRow { row in
            let sequence = row.int64(1)
            guard users.contains(row.string(0)) || (sequence > after && sequence <= through) else { return }
            timelines[row.string(0)] = try Value(json: row.bytes(2))
        }
        return .object(timelines)
    }

    /// All users' timelines.
    static func timelines(_ database: Database) throws -> [String: ZoneTimeline] {
        var timelines: [String: ZoneTimeline] = [:]
        try database.prepare("SELECT user, timeline FROM zone_timelines").forEachRow { row in
            timelines[row.string(0)] = try ZoneTimeline(wireValue: Value(json: row.bytes(1)))
        }
        return timelines
    }
}
