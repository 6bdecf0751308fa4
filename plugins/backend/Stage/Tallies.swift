import HTTP
import JSON
import SQLite

/// Counts of samples by type, and of requests' outcomes, stored beside the rows, so that a query about two million rows
/// needs to read only a dozen.
final class Tallies {
    private let tally: Statement
    private let counter: Statement
    private var changes: [Int64: BackendHoldings.Count] = [:]
    /// Changes that aren't in `changes` yet, for the latest type.
    private var run: (type: Int64, change: BackendHoldings.Count) = (0, .init())

    init(_ database: Database) throws {
        tally = try database.prepare(
            """
            INSERT INTO tallies(user, type, alive, deleted) VALUES(?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET alive = alive + excluded.alive, deleted = deleted + excluded.deleted
            """)
        counter = try database.prepare(
            "INSERT INTO counters(name, count) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET count = count + excluded.count")
    }

    /// Records a created or updated row.
    func move(_ effect: SampleTable.Effect) {
        if let previous = effect.previous { note(previous.type, deleted: previous.isDeleted, -1) }
        note(effect.type, deleted: effect.isDeleted, 1)
        guard effect.displaced != nil else { return }
        note(effect.type, deleted: false, -1)
        note(effect.type, deleted: true, 1)
    }

    private func note(_ type: Int64, deleted: Bool, _ count: Int64) {
        // Samples of one type usually arrive together.
        if type != run.type {
            endRun()
            run.type = type
        }
        if deleted { run.change.deleted += count } else { run.change.alive += count }
    }

    private func endRun() {
        changes[run.type, default: .init()].alive += run.change.alive
        changes[run.type, default: .init()].deleted += run.change.deleted
        run.change = .init()
    }

    /// Writes what was recorded, in the request's transaction.
    func commit(user: Int64, _ outcome: SyncOutcome) throws {
        endRun()
        for (type, change) in changes where change.alive != 0 || change.deleted != 0 {
            try tally.with(user, type, change.alive, change.deleted).run()
        }
        changes.removeAll(keepingCapacity: true)
        let counts = [
            ("created", outcome.created), ("updated", outcome.updated), ("known", outcome.known),
            ("refused", outcome.refused),
        ]
        for (name, count) in counts where count > 0 {
            try counter.with(name, count).run()
        }
    }

    func forget() {
        changes.removeAll()
        run.change = .init()
    }
}

/// Counts how often each (id, version) was accepted as new, separately from the rows themselves, so that an upsert
/// can't hide a repeat.
final class AcceptanceAudit {
    private let accept: Statement

    init(_ database: Database) throws {
        accept = try database.prepare(
            """
            INSERT INTO accepted(user, kind, id, version, deleted, count) VALUES(?1, ?2, ?3, ?4, ?5, 1)
            ON CONFLICT DO UPDATE SET count = count + 1
            """)
    }

    func count(user: Int64, kind: Int64, id: UnsafeRawBufferPointer, version: Int64, deleted: Bool) throws {
        accept.bind(1, user)
        accept.bind(2, kind)
        accept.bindText(3, id)
        accept.bind(4, version)
        accept.bind(5, deleted ? 1 : 0)
        try accept.run()
    }
}
