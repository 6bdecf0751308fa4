import Changelog
import HealthModel
import ObserverReading
import Protocol
import SQLite
import StageKit

/// A person's setting for zones, as a command: idempotent, so that it may be repeated.
enum ZoneCommand {
    /// The zone for all time.
    case set(String)
    /// A zone from a moment on; it replaces any other zone set for that moment.
    case add(from: Instant, String)
    case remove(from: Instant)

    /// nil when it can't be carried out: the command line refuses such a change itself.
    init?(_ change: ChangeZone) {
        let zone = change.zone.flatMap { ZoneName.isKnown($0) ? $0 : nil }
        let from = change.from.flatMap { $0 > .distantPast ? $0 : nil }
        switch (change.action, zone, from) {
        case (.set, let zone?, nil): self = .set(zone)
        case (.add, let zone?, let from?): self = .add(from: from, zone)
        case (.remove, nil, let from?): self = .remove(from: from)
        default: return nil
        }
    }
}

/// The users' zone timelines: part of the observer's changelog, so that every stage sees the same days.
///
/// Settings and observations are stored; the timeline follows from them, and gets a new sequence number when it
/// changes.
struct ZoneLedger {
    private var sightings = ZoneSightings()
    /// Users with new observations since their timeline was made.
    private var stale: Set<String> = []

    /// Does whatever a crash left undone.
    mutating func open(_ turn: Turn) throws {
        for user in try ZoneTables.users(in: turn.database) { try settle(user, turn) }
    }

    /// Begins a user's timeline with a zone unless the user has one: starting the stack elsewhere later doesn't move
    /// the past.
    func ensure(user: String, zone: String, _ turn: Turn) throws {
        guard try !ZoneTables.hasHome(user, in: turn.database) else { return }
        try apply(.set(zone), user: user, turn)
    }

    func apply(_ command: ZoneCommand, user: String, _ turn: Turn) throws {
        switch command {
        case .set(let zone): try write(user, .distantPast, zone, turn)
        case .add(let from, let zone): try write(user, from, zone, turn)
        case .remove(let from):
            let delete = try turn.write().database.prepare("DELETE FROM zone_settings WHERE user = ? AND moment = ?")
            try delete.with(user, from.microseconds).run()
        }
        try settle(user, turn)
    }

    /// Gives the user another stack's timeline, as if a person had set it here: its entries replace those set or added
    /// here. Stays seen in samples still begin between its entries.
    func follow(_ timeline: ZoneTimeline, user: String, _ turn: Turn) throws {
        if let plan = try ZoneTables.plan(of: user, in: turn.database), try plan.timeline() == timeline { return }
        try turn.write().database.prepare("DELETE FROM zone_settings WHERE user = ?").with(user).run()
        for (number, entry) in timeline.entries.enumerated() {
            try write(user, number == 0 ? .distantPast : entry.from, entry.zone, turn)
        }
        try settle(user, turn)
    }

    private func write(_ user: String, _ moment: Instant, _ zone: String, _ turn: Turn) throws {
        let write = try turn.write().database.prepare("INSERT OR REPLACE INTO zone_settings VALUES (?, ?, ?)")
        try write.with(user, moment.microseconds, zone).run()
    }

    /// Stores what a batch's records say about zones, in addition to the records.
    mutating func observe(_ batch: RecordBatch, user: String, _ turn: Turn) throws {
        let observations = sightings.observations(in: batch)
        guard !observations.isEmpty else { return }
        let database = try turn.write().database
        let insert = try database.prepare(
            """
            INSERT INTO zone_observations VALUES (?, ?, ?, ?)
            ON CONFLICT (user, hour, zone) DO UPDATE SET rank = excluded.rank WHERE excluded.rank < rank
            """)
        for observation in observations {
            try insert.with(user, observation.hour, observation.zone, observation.rank).run()
            if database.changes > 0 { stale.insert(user) }
        }
    }

    /// The user's days as known now; nil if the user has no timeline yet.
    func timeline(of user: String, _ turn: Turn) throws -> ZoneTimeline? {
        try ZoneTables.plan(of: user, in: turn.database)?.timeline()
    }

    /// Updates the timelines with new observations.
    mutating func settle(_ turn: Turn) throws {
        for user in stale.sorted() { try settle(user, turn) }
        stale = []
    }

    private func settle(_ user: String, _ turn: Turn) throws {
        guard let plan = try ZoneTables.plan(of: user, in: turn.database) else { return }
        let timeline = try plan.timeline()
        let text = timeline.wireValue.json()
        let find = try turn.database.prepare("SELECT timeline FROM zone_timelines WHERE user = ?")
        guard try find.with(user).firstRow({ $0.string(0) }) != text else { return }
        let stage = try turn.write()
        let write = try stage.database.prepare("INSERT OR REPLACE INTO zone_timelines VALUES (?, ?, ?)")
        try write.with(user, stage.nextSequence().value, text).run()
        turn.log(.zonesChanged, ["entries": timeline.entries.count])
    }
}
