import HealthModel
import SQLite

/// The dates on which a user has samples of a type, and which samples came late.
package struct TypeCompleteness: Sendable {
    package var head: TypeHead
    /// The first and last date of each run of consecutive dates with samples, in order, as days since 1970.
    package var runs: [Int32]
    /// Samples that HealthKit stored more than a day after they ended, in order of their start dates.
    package var late: [(day: Int32, arrivals: LateArrivals.Day)]
}

/// Reports how complete a store is, in steps of bounded work, and keeps the result: later, only types that have changed
/// are examined again.
package final class CompletenessReader {
    /// How much work one step may do.
    package struct Budget: Sendable {
        package var rows: Int
        package var seeks: Int

        /// A step with this budget takes well under a tenth of a second.
        package static let step = Budget(rows: 150_000, seeks: 10_000)
        package static let unlimited = Budget(rows: .max, seeks: .max)

        package init(rows: Int, seeks: Int) { (self.rows, self.seeks) = (rows, seeks) }

        package var isBounded: Bool { rows < .max }
    }

    private struct Key: Hashable {
        var user: String
        var type: String
    }

    private let store: HealthStoreReader
    private let seeks: DayWalk.Statements
    private let changes: RowWalk
    private let reach: Statement
    private var late = LateArrivals()
    private var walks: [Key: (sequence: SequenceNumber, walk: DayWalk)] = [:]
    private var zones: [String: ZoneTimeline] = [:]
    private var nightHours: [String: Int] = [:]

    package init(_ store: HealthStoreReader) throws {
        self.store = store
        seeks = try DayWalk.Statements(in: store.database, store.blocks)
        changes = try RowWalk(.times, in: store.database, store.blocks)
        reach = try store.database.prepare("SELECT reach FROM heads WHERE user = ? AND type = ?")
    }

    /// All types with samples, sorted by user and name; nil if the budget didn't cover the remaining work, in which
    /// case call this again.
    /// - Parameters:
    ///   - zones: by user. Samples of a user for whom no zones are known are skipped.
    ///   - nightHours: for types whose dates are nights, the hour at which their window ends.
    package func types(
        zones: [String: ZoneTimeline], nightHours: [String: Int], budget: Budget
    ) throws -> [TypeCompleteness]? {
        var budget = budget
        // Samples may belong to different dates now.
        if zones != self.zones || nightHours != self.nightHours {
            late = LateArrivals()
            walks = [:]
            (self.zones, self.nightHours) = (zones, nightHours)
        }
        let heads = try store.heads().filter { $0.alive > 0 && zones[$0.user] != nil }
        let counted = try late.advance(changes, head: store.head(), rows: &budget.rows) { key in
            edges(Key(user: try store.users.name(key.user), type: try store.types.name(key.type)))
        }
        guard counted else { return nil }
        var found: [TypeCompleteness] = []
        for head in heads {
            guard let walk = try walk(head, &budget) else { return nil }
            found.append(TypeCompleteness(head: head, runs: walk.runs, late: try late(of: head)))
        }
        return found
    }

    private func edges(_ key: Key) -> DayEdges? {
        zones[key.user].map { DayEdges(zones: $0, endHour: nightHours[key.type] ?? 24) }
    }

    /// The dates of a type; nil while there are more to find.
    private func walk(_ head: TypeHead, _ budget: inout Budget) throws -> DayWalk? {
        let key = Key(user: head.user, type: head.type)
        guard let edges = edges(key), let user = store.users.ids[head.user], let type = store.types.ids[head.type]
        else {
            return nil
        }
        var entry = walks[key] ?? (head.sequence, DayWalk(user: head.user, type: head.type, edges: edges))
        if entry.sequence != head.sequence {
            entry = (head.sequence, DayWalk(user: head.user, type: head.type, edges: edges))
        }
        if !entry.walk.isComplete {
            let reach = try reach.with(user, type).firstRow { $0.int64(0) } ?? 0
            try entry.walk.advance(seeks, user: user, type: type, reach: reach, seeks: &budget.seeks)
            walks[key] = entry
        }
        return entry.walk.isComplete ? entry.walk : nil
    }

    private func late(of head: TypeHead) throws -> [(day: Int32, arrivals: LateArrivals.Day)] {
        guard let user = store.users.ids[head.user], let type = store.types.ids[head.type] else { return [] }
        return (late.days[LateArrivals.Key(user: user, type: type)] ?? [:]).sorted { $0.key < $1.key }
            .map { (day: $0.key, arrivals: $0.value) }
    }
}

extension HealthStoreReader {
    /// The number of quarantine entries for each reason, the most frequent reason first; at most `limit` reasons.
    package func quarantineReasons(user: String, limit: Int = 200) throws -> [(reason: String, count: Int)] {
        let query = try database.prepare(
            """
            SELECT reason, count(*) AS n FROM quarantine WHERE dropped = 0 AND user = (SELECT id FROM users WHERE name = ?)
            GROUP BY reason ORDER BY n DESC, reason LIMIT ?
            """)
        return try query.with(user, limit).rows { ($0.string(0), $0.int(1)) }
    }
}
