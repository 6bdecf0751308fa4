import Changelog
import HealthImport
import HealthModel
import HealthStatistics
import HealthStore
import ObserverReading
import Protocol
import SQLite
import StageKit

/// The files handed over, in order of arrival: which are waiting, which is being read, and the outcome of each. The
/// table is authoritative: the process that asked may die.
final class ImportLedger {
    enum State: String {
        /// Named by a command, but not in the inbox yet.
        case announced
        /// On its way into the inbox over the bus.
        case receiving
        /// In the inbox: waiting, or being read.
        case open
        case closed
        case failed
    }

    struct Entry {
        var id: String
        /// The path as named by the command.
        var path: String
        var user: String
        var state: State
        var submitted: Instant
        /// New rows by type over all attempts: samples that an attempt after a crash finds already known were added by
        /// an earlier attempt.
        var added: [String: Int64]
        /// The closing report; nil before that, and for an import that failed.
        var report: Value?
        /// Why it failed, or where the input is damaged.
        var problem: String?
        var seconds: Double
        /// What was requested besides importing it; nil for a plain import.
        var plan: ImportPlan?
        /// The offer of a command that can send the bytes; nil without one, and once the file is in the inbox.
        var offer: FileOffer?
        /// When the import's samples were taken back.
        var undone: Instant?

        /// Whether handing over the same file again would begin a new import.
        var isSpent: Bool { state == .failed || (state == .closed && problem != nil) || undone != nil }

        fileprivate static let underWay: [State] = [.announced, .receiving, .open]
        fileprivate var isUnderWay: Bool { Self.underWay.contains(state) }
    }

    /// Imports that aren't over, in order of arrival: these are few. The others accumulate over the years, and are read
    /// from the table when needed.
    private var underWay: [Entry] = []

    func open(_ turn: Turn) throws {
        let states = Entry.underWay.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        underWay = try Self.entries(where: "state IN (\(states))", turn)
    }

    /// - Parameter value: what a `?` in the condition stands for.
    private static func entries(
        where condition: String, is value: String? = nil, _ turn: Turn
    ) throws -> [Entry] {
        let read = try turn.database.prepare(
            """
            SELECT imports.id, path, user, state, submitted, added, report, problem, seconds, plan, request, heard,
                undone
            FROM imports LEFT JOIN import_plans ON import_plans.id = imports.id
                LEFT JOIN import_offers ON import_offers.id = imports.id
                LEFT JOIN import_undone ON import_undone.id = imports.id WHERE \(condition) ORDER BY number
            """)
        if let value { read.bind(1, value) }
        return try read.rows { row in
            Entry(
                id: row.string(0), path: row.string(1), user: row.string(2),
                state: State(rawValue: row.string(3)) ?? .failed,
                submitted: Instant(microseconds: row.int64(4)),
                added: (try Value(json: row.bytes(5)).object ?? [:]).compactMapValues(\.int),
                report: row.isNull(6) ? Value?.none : try Value(json: row.bytes(6)),
                problem: row.isNull(7) ? nil : row.string(7),
                seconds: row.double(8),
                plan: row.isNull(9) ? nil : ImportPlan(wireValue: try Value(json: row.bytes(9))),
                offer: row.isNull(10)
                    ? nil
                    : try Value(json: row.bytes(10)).read().map {
                        FileOffer(request: $0, heard: Instant(microseconds: row.int64(11)))
                    },
                undone: row.optional(12).map { Instant(microseconds: $0) })
        }
    }

    private func enter(_ entry: Entry) {
        let place = underWay.firstIndex { $0.id == entry.id }
        switch (place, entry.isUnderWay) {
        case (let place?, true): underWay[place] = entry
        case (let place?, false): underWay.remove(at: place)
        case (nil, true): underWay.append(entry)
        case (nil, false): break
        }
    }

    private func underWay(_ state: State) -> [Entry] { underWay.filter { $0.state == state } }

    /// The import with this id; nil if there is none.
    func entry(_ id: String, _ turn: Turn) throws -> Entry? {
        try underWay.first { $0.id == id } ?? Self.entries(where: "imports.id = ?", is: id, turn).first
    }

    /// The import to read next.
    var firstOpen: Entry? { underWay.first { $0.state == .open } }
    var announced: [Entry] { underWay(.announced) }
    var receiving: [Entry] { underWay(.receiving) }
    /// Whether an import is in progress. A file still on its way over the bus doesn't count: its sender may never come
    /// back.
    var isOpen: Bool { underWay.contains { $0.state != .receiving } }
    /// Names of files in the inbox that are still needed.
    var needed: Set<String> { Set(underWay.map(\.id)).union(receiving.map { Inbox.half($0.id) }) }

    /// When the newest export that was accepted as complete was made.
    func newestComplete(of user: String, _ turn: Turn) throws -> Instant? {
        try closedPlans(of: user, turn).compactMap { plan, isUndone in
            guard !isUndone, let plan, plan.isComplete, plan.isApproved else { return nil }
            return plan.exportedAt
        }.max()
    }

    /// What was requested of a person's closed imports (including damaged, refused and undone ones), without reports.
    func closedPlans(
        of user: String, besides id: String = "", _ turn: Turn
    ) throws -> [(plan: ImportPlan?, isUndone: Bool)] {
        let read = try turn.database.prepare(
            """
            SELECT plan, undone FROM imports LEFT JOIN import_plans ON import_plans.id = imports.id
                LEFT JOIN import_undone ON import_undone.id = imports.id
            WHERE state = '\(State.closed.rawValue)' AND user = ? AND imports.id <> ?
            """)
        return try read.with(user, id).rows { row in
            (row.isNull(0) ? nil : ImportPlan(wireValue: try Value(json: row.bytes(0))), !row.isNull(1))
        }
    }

    func save(_ entry: Entry, _ turn: Turn) throws {
        enter(entry)
        let write = try turn.write().database.prepare(
            """
            INSERT INTO imports(id, path, user, state, submitted, added, report, problem, seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET state = excluded.state, added = excluded.added, report = excluded.report,
                problem = excluded.problem, seconds = excluded.seconds
            """)
        let added = Value.object(entry.added.mapValues { .integer($0) })
        try write.with(
            entry.id, entry.path, entry.user, entry.state.rawValue, entry.submitted.microseconds, added.json(),
            entry.report?.json(), entry.problem, entry.seconds
        ).run()
        try save(entry.offer, of: entry.id, turn)
        if let undone = entry.undone {
            let mark = try turn.write().database.prepare("INSERT OR REPLACE INTO import_undone VALUES (?, ?)")
            try mark.with(entry.id, undone.microseconds).run()
        }
        guard let plan = entry.plan else { return }
        try ImportTables.plans.set(entry.id, to: plan.wireValue, turn)
    }

    private func save(_ offer: FileOffer?, of id: String, _ turn: Turn) throws {
        let database = try turn.write().database
        guard let offer else {
            return try database.prepare("DELETE FROM import_offers WHERE id = ?").with(id).run()
        }
        let write = try database.prepare("INSERT OR REPLACE INTO import_offers VALUES (?, ?, ?)")
        try write.with(id, Value.object(offer.request.body).json(), offer.heard.microseconds).run()
    }
}
