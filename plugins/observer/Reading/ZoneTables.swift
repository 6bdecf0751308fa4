import HealthModel
import Protocol
import SQLite

/// The tables of users' zones: what was set and added, what was observed, and the resulting timelines, which other
/// stages read.
package enum ZoneTables {
    static func create(in database: Database) throws {
        // The zone that was set for all time is stored under the lowest possible moment. A timeline without settings
        // comes from a release before settings existed.
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS zone_timelines(
                user TEXT PRIMARY KEY, seq INTEGER NOT NULL, timeline TEXT NOT NULL) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS zone_settings(
                user TEXT NOT NULL, moment INTEGER NOT NULL, zone TEXT NOT NULL, PRIMARY KEY (user, moment)) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS zone_observations(
                user TEXT NOT NULL, hour INTEGER NOT NULL, zone TEXT NOT NULL, rank INTEGER NOT NULL,
                PRIMARY KEY (user, hour, zone)) WITHOUT ROWID;
            INSERT INTO zone_settings
                SELECT user, \(Instant.distantPast.microseconds), json_extract(timeline, '$[0][1]') FROM zone_timelines
                WHERE user NOT IN (SELECT user FROM zone_settings);
            """)
    }

    package static func users(in database: Database) throws -> [String] {
        try database.prepare("SELECT DISTINCT user FROM zone_settings ORDER BY user").rows { $0.string(0) }
    }

    /// Whether the zone at the beginning of a user's timeline has been set. This is called for each part that is
    /// ingested, so it reads only one row, no matter how many hours were observed.
    package static func hasHome(_ user: String, in database: Database) throws -> Bool {
        try database.prepare("SELECT 1 FROM zone_settings WHERE user = ? AND moment = ?")
            .with(user, Instant.distantPast.microseconds).hasRow()
    }

    /// Everything that decides a user's timeline; nil when the user has none.
    package static func plan(of user: String, in database: Database) throws -> ZonePlan? {
        let settings = try database.prepare("SELECT moment, zone FROM zone_settings WHERE user = ? ORDER BY moment")
        let entries = try settings.with(user).rows {
            ZoneTimeline.Entry(from: Instant(microseconds: $0.int64(0)), zone: $0.string(1))
        }
        guard let home = entries.first, home.from == .distantPast else { return nil }
        var plan = ZonePlan(home: home.zone, added: Array(entries.dropFirst()))
        let observed = try database.prepare("SELECT hour, zone, rank FROM zone_observations WHERE user = ?")
        // One string per zone, no matter how many hours name it.
        var names: [String: String] = [:]
        try observed.with(user).forEachRow {
            let name = $0.string(1)
            let zone = names[name] ?? name
            names[zone] = zone
            plan.observed.append(.init(hour: $0.int64(0), zone: zone, rank: $0.int(2)))
        }
        return plan
    }

    /// All users' timelines.
    static func timelines(in database: Database) throws -> [String: ZoneTimeline] {
        var timelines: [String: ZoneTimeline] = [:]
        try database.prepare("SELECT user, timeline FROM zone_timelines").forEachRow { row in
            timelines[row.string(0)] = try ZoneTimeline(wireValue: Value(json: row.bytes(1)))
        }
        return timelines
    }

    /// The timelines that changed in a window, and those of `users`; by user.
    static func timelines(
        in database: Database, after: SequenceNumber, through: SequenceNumber, users: Set<String>
    ) throws -> [String: Value] {
        var timelines: [String: Value] = [:]
        try database.prepare("SELECT user, seq, timeline FROM zone_timelines").forEachRow { row in
            let sequence = SequenceNumber(row.int64(1))
            guard users.contains(row.string(0)) || (sequence > after && sequence <= through) else { return }
            timelines[row.string(0)] = try Value(json: row.bytes(2))
        }
        return timelines
    }

    /// The parts of a user's timeline, each with its origin; nil for a user without one.
    static func parts(of user: String, in database: Database) throws -> [ZonePlan.Part]? {
        try plan(of: user, in: database)?.parts
    }
}
