import Changelog
import Foundation
import HealthModel
import SQLite

/// The zone timelines of the users, as the observer's changelog last told them.
package struct Timelines {
    private var byUser: [String: ZoneTimeline] = [:]

    package init() {}

    package static func createTables(in database: Database) throws {
        try database.execute(
            "CREATE TABLE IF NOT EXISTS zones(user TEXT PRIMARY KEY, timeline TEXT NOT NULL) WITHOUT ROWID")
    }

    package mutating func open(_ turn: Turn) throws { self = try Timelines(turn.database) }

    /// Those that a file holds.
    package init(_ database: Database) throws {
        try database.prepare("SELECT user, timeline FROM zones").forEachRow {
            byUser[$0.string(0)] = try ZoneTimeline(wireValue: Value(json: $0.bytes(1)))
        }
    }

    package subscript(user: String) -> ZoneTimeline? { byUser[user] }
    package var users: [String] { byUser.keys.sorted() }

    /// A timeline that was taken over, and the one before it.
    package struct Change {
        package var user: String
        /// nil when nothing was known.
        package var old: ZoneTimeline?
        package var new: ZoneTimeline
    }

    /// Takes over the timelines of a page; those that changed.
    /// - Parameter page: by user, as `ZoneTimeline.wireValue`.
    /// - Throws: `StageError.unreadablePage`, `ZoneError`.
    package mutating func learn(_ page: Value, from producer: String, _ turn: Turn) throws -> [Change] {
        var changes: [Change] = []
        for (user, entries) in (page.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let new = try ZoneTimeline(wireValue: entries) else {
                throw StageError.unreadablePage(producer: producer)
            }
            let old = byUser[user]
            guard old != new else { continue }
            byUser[user] = new
            let write = try turn.write().database.prepare("INSERT OR REPLACE INTO zones VALUES (?, ?)")
            write.bind(1, user)
            write.bind(2, new.wireValue.json())
            try write.run()
            changes.append(Change(user: user, old: old, new: new))
        }
        return changes
    }
}

extension ZoneTimeline {
    /// `[[from, zone], …]`, the first from null: for all time before.
    package var wireValue: Value {
        .array(entries.map { [$0.from == .min ? .null : .integer($0.from), .string($0.zone)] })
    }

    /// nil when the value isn't a timeline.
    package init?(wireValue value: Value) throws {
        guard let list = value.array else { return nil }
        var entries: [Entry] = []
        for entry in list {
            guard let parts = entry.array, parts.count == 2, let zone = parts[1].string else { return nil }
            entries.append(Entry(from: parts[0].int ?? .min, zone: zone))
        }
        try self.init(entries)
    }
}
