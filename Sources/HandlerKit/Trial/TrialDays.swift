import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// Some days from a handler's file. They are read in one transaction while the file's owner keeps it open, so that
/// figures, zones and cursor are consistent.
///
/// The file isn't copied: it is read over a connection that can't write, as for pulls, so there is nothing to create,
/// and nothing to clean up after a crash.
package struct TrialDays {
    struct Day {
        var user: String
        var day: LocalDay
        /// Whether the existing figures were computed from everything consumed; otherwise they can't be compared.
        var isSettled: Bool
        /// The rows that aren't tombstones; empty for a day without samples.
        var rows: [(key: String, body: Value)] = []
        /// Those of them that are events.
        var events: [EventTrace] = []

        var key: DirtyDays.Key { .init(user: user, day: day.number) }
    }

    private(set) var days: [Day] = []
    /// Settled days besides those, without their rows: they are tried for their events alone.
    private(set) var eventDays: [Day] = []
    private(set) var timelines = Timelines()
    private(set) var characteristics: Characteristics
    private(set) var cursor = Cursor()

    /// - Parameter choose: fills in the days; not called if nothing was ever consumed.
    private init(
        in database: Database, observer: String, asked: Set<String>, choose: (inout TrialDays) throws -> Void
    ) throws {
        characteristics = Characteristics(asked)
        try database.readTransaction {
            timelines = try Timelines(database)
            try characteristics.load(database)
            guard let cursor = try Upstream.cursor(observer, in: database) else { return }
            self.cursor = cursor
            try choose(&self)
        }
    }

    /// Selects some of the days that failed; days with figures, newest first, with those waiting to be computed again
    /// last; and one day without figures.
    /// - Parameters:
    ///   - asked: characteristics that the handler reads.
    ///   - count: the maximum number of days, besides the one without figures.
    ///   - eventCount: the maximum number of further days with events.
    init(in database: Database, observer: String, asked: Set<String>, count: Int, eventCount: Int) throws {
        try self.init(in: database, observer: observer, asked: asked) { trial in
            trial.days = try Self.choose(in: database, count: count).map { user, day, isSettled in
                try Self.day(.init(user: user, day: day), isSettled: isSettled, in: database)
            }
            let chosen = Set(trial.days.map(\.key))
            trial.eventDays = try Self.chooseEvents(in: database, count: eventCount + count).filter {
                !chosen.contains($0)
            }
            .prefix(eventCount).map { key in
                var day = try Self.day(key, isSettled: true, in: database)
                day.rows = []
                return day
            }
            guard let user = trial.days.first?.user else { return }
            let oldest = try database.prepare(
                "SELECT min(day) - 1 FROM changes WHERE user = ?1 AND day IS NOT NULL HAVING min(day) - 1 NOT IN (SELECT day FROM dirty WHERE user = ?1 UNION SELECT day FROM failed_days WHERE user = ?1)"
            )
            if let day = try oldest.with(user).firstRow({ $0.int(0) }) {
                trial.days.append(Day(user: user, day: LocalDay(number: day), isSettled: true))
            }
        }
    }

    /// Reads days again for their events; those that are no longer settled are left out.
    init(_ keys: [DirtyDays.Key], in database: Database, observer: String, asked: Set<String>) throws {
        try self.init(in: database, observer: observer, asked: asked) { trial in
            let waits = try database.prepare("SELECT 1 FROM dirty WHERE user = ? AND day = ?")
            for key in keys where try !waits.with(key.user, key.day).hasRow() {
                trial.eventDays.append(try Self.day(key, isSettled: true, in: database))
            }
        }
    }

    private static func day(_ key: DirtyDays.Key, isSettled: Bool, in database: Database) throws -> Day {
        var day = Day(user: key.user, day: LocalDay(number: key.day), isSettled: isSettled)
        day.rows = try KeyedChangelog.rows(in: database, user: key.user, day: key.day)
            .compactMap { row in row.body.map { (row.key, $0) } }
        day.events = day.rows.compactMap { EventTrace(key: $0.key, body: $0.body) }
        return day
    }

    /// Chooses which days are tried. Failed days come first, because they are the reason for replacing a handler, but
    /// they make up at most half.
    package static func choose(in database: Database, count: Int) throws -> [(user: String, day: Int, isSettled: Bool)]
    {
        let failed = try database.prepare("SELECT user, day FROM failed_days ORDER BY day DESC, user LIMIT ?")
            .with(count / 2).rows { (user: $0.string(0), day: $0.int(1), isSettled: false) }
        let newest = try database.prepare(
            """
            SELECT user, day, NOT EXISTS
                (SELECT 1 FROM dirty WHERE dirty.user = changes.user AND dirty.day = changes.day) AS settled
            FROM changes WHERE day IS NOT NULL AND body IS NOT NULL AND NOT EXISTS
                (SELECT 1 FROM failed_days WHERE failed_days.user = changes.user AND failed_days.day = changes.day)
            GROUP BY user, day ORDER BY settled DESC, day DESC, user LIMIT ?
            """
        ).with(count - failed.count).rows { (user: $0.string(0), day: $0.int(1), isSettled: $0.int(2) == 1) }
        return failed + newest
    }

    /// Chooses settled days with events. They are scattered over all there are, however few are chosen or tried, since a
    /// plugin may lose only the events of one year or one device.
    static func chooseEvents(in database: Database, count: Int) throws -> [DirtyDays.Key] {
        try database.prepare(
            """
            SELECT user, day FROM changes WHERE key >= 'event/' AND key < 'event0' AND day IS NOT NULL AND body IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM dirty WHERE dirty.user = changes.user AND dirty.day = changes.day)
            AND NOT EXISTS
                (SELECT 1 FROM failed_days WHERE failed_days.user = changes.user AND failed_days.day = changes.day)
            GROUP BY user, day ORDER BY (day * 2654435761) & 4294967295, user LIMIT ?
            """
        ).with(count).rows { DirtyDays.Key($0) }
    }
}
