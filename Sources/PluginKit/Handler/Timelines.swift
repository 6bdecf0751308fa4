import Changelog
import Foundation
import HealthModel
import SQLite

/// The zone timelines of the users, as the observer's changelog last told them.
public struct Timelines {
    private var byUser: [String: ZoneTimeline] = [:]

    public init() {}

    public static func createTables(in database: Database) throws {
        try database.execute(
            "CREATE TABLE IF NOT EXISTS zones(user TEXT PRIMARY KEY, timeline TEXT NOT NULL) WITHOUT ROWID")
    }

    public mutating func open(_ turn: Turn) throws {
        try turn.database.prepare("SELECT user, timeline FROM zones").forEachRow {
            byUser[$0.string(0)] = try ZoneTimeline(wireValue: Value(json: $0.bytes(1)))
        }
    }

    public subscript(user: String) -> ZoneTimeline? { byUser[user] }
    public var users: [String] { byUser.keys.sorted() }

    /// Takes over a timeline; the one before when it differs, nil when nothing was known or nothing changes.
    public mutating func learn(_ timeline: ZoneTimeline, user: String, _ turn: Turn) throws -> ZoneTimeline? {
        let old = byUser[user]
        guard old != timeline else { return nil }
        byUser[user] = timeline
        let write = try turn.write().database.prepare("INSERT OR REPLACE INTO zones VALUES (?, ?)")
        write.bind(1, user)
        write.bind(2, timeline.wireValue.json())
        try write.run()
        return old
    }
}

extension ZoneTimeline {
    /// `[[from, zone], …]`, the first from null: for all time before.
    public var wireValue: Value {
        .array(entries.map { [$0.from == .min ? .null : .integer($0.from), .string($0.zone)] })
    }

    /// nil when the value isn't a timeline.
    public init?(wireValue value: Value) throws {
        guard let list = value.array else { return nil }
        var entries: [Entry] = []
        for entry in list {
            guard let parts = entry.array, parts.count == 2, let zone = parts[1].string else { return nil }
            entries.append(Entry(from: parts[0].int ?? .min, zone: zone))
        }
        try self.init(entries)
    }

    /// The first instant from which two timelines say different zones; nil when they never do.
    public func firstDifference(from other: ZoneTimeline) -> Instant? {
        for instant in Set(entries.map(\.from) + other.entries.map(\.from)).sorted()
        where zone(at: instant) != other.zone(at: instant) {
            return instant
        }
        return nil
    }
}
