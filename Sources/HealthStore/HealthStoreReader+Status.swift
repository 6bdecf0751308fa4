import HealthModel
import SQLite

/// What the store has for one user and type.
package struct TypeHead: Sendable, Equatable {
    package var user: String
    package var type: String
    /// The sequence of the latest change.
    package var sequence: SequenceNumber
    package var alive: Int
    package var deleted: Int
    package var quarantined: Int
    /// These times cover the samples that aren't deleted. While many are being deleted (those that a complete export
    /// lacks, or an import that is undone), the times are only bounds.
    package var firstStart: Instant?
    package var lastStart: Instant?
    package var lastEnd: Instant?
}

/// One entry of the quarantine.
package struct QuarantineEntry: Sendable, Equatable {
    /// Increases with each entry.
    package var number: Int64
    package var user: String
    /// The file or request that it came in.
    package var source: String
    /// The line of the input; 0 when the input has no lines.
    package var line: Int64
    package var reason: String
    /// The element as received, or text made from a sample that isn't stored (a conflict, or a name for which there is
    /// no room); empty for a sample that is stored but outside the plausibility limits.
    package var raw: String
    /// That sample's id.
    package var sample: SampleID?
    /// How many times the same content has been received.
    package var seen: Int64
}

extension HealthStoreReader {
    /// Heads by user and type, sorted by name.
    package func heads(user: String? = nil) throws -> [TypeHead] {
        try refresh()
        let query = try database.prepare(
            "SELECT user, type, seq, alive, deleted, quarantined, first_start, last_start, last_end FROM heads")
        func instant(_ row: Statement, _ column: Int) -> Instant? {
            row.isNull(column) ? nil : Instant(microseconds: row.int64(column))
        }
        var heads: [TypeHead] = []
        try query.forEachRow { row in
            let entry = TypeHead(
                user: try users.name(row.int(0)), type: try types.name(row.int(1)),
                sequence: SequenceNumber(row.int64(2)),
                alive: row.int(3),
                deleted: row.int(4), quarantined: row.int(5), firstStart: instant(row, 6), lastStart: instant(row, 7),
                lastEnd: instant(row, 8))
            if user == nil || user == entry.user { heads.append(entry) }
        }
        return heads.sorted { ($0.user, $0.type) < ($1.user, $1.type) }
    }

    /// The latest change to each type, over all users, for types that have changed since the given sequences.
    package func heads(after sequence: SequenceNumber) throws -> [String: SequenceNumber] {
        try refresh()
        let query = try database.prepare("SELECT type, max(seq) FROM heads WHERE seq > ? GROUP BY type")
        query.bind(1, sequence.value)
        var heads: [String: SequenceNumber] = [:]
        try query.forEachRow { heads[try types.name($0.int(0))] = SequenceNumber($0.int64(1)) }
        return heads
    }

    /// The users that the store has data for, sorted.
    package func userNames() throws -> [String] {
        try users.refresh()
        return users.ids.keys.sorted()
    }

    /// The quarantine's entries, oldest first, one page at a time.
    /// - Parameter after: the number of the last entry on the previous page; 0 for the first page.
    package func quarantine(user: String? = nil, after: Int64 = 0, limit: Int = 1000) throws -> [QuarantineEntry] {
        try users.refresh()
        if let user, users.ids[user] == nil { return [] }
        let query = try database.prepare(
            """
            SELECT number, user, source, line, reason, raw, sample, seen FROM quarantine
            WHERE number > ?1 AND dropped = 0 AND (?3 IS NULL OR user = ?3) ORDER BY number LIMIT ?2
            """)
        query.bind(1, after)
        query.bind(2, limit)
        if let id = user.flatMap({ users.ids[$0] }) { query.bind(3, id) } else { query.bindNull(3) }
        var entries: [QuarantineEntry] = []
        try query.forEachRow { row in
            entries.append(
                QuarantineEntry(
                    number: row.int64(0), user: try users.name(row.int(1)), source: row.string(2), line: row.int64(3),
                    reason: row.string(4), raw: row.string(5), sample: row.sampleID(6), seen: row.int64(7)))
        }
        return entries
    }

    /// Names of sources over all users, sorted.
    package func sourceNames(limit: Int) throws -> [String] {
        let query = try database.prepare("SELECT DISTINCT source FROM origins ORDER BY source LIMIT ?")
        query.bind(1, limit)
        var names: [String] = []
        try query.forEachRow { names.append($0.string(0)) }
        return names
    }

    package func hasSource(named name: String) throws -> Bool {
        let query = try database.prepare("SELECT 1 FROM origins WHERE source = ? LIMIT 1")
        query.bind(1, name)
        return try query.firstRow { _ in true } ?? false
    }

    /// How many entries the quarantine has.
    package func quarantineCount() throws -> Int {
        try database.prepare("SELECT count(*) FROM quarantine WHERE dropped = 0").firstRow { $0.int(0) } ?? 0
    }

    /// Apple's ring summaries for a range of dates, including the first and the last, in order; at most the first
    /// `limit`.
    package func activitySummaries(
        user: String, from: LocalDay, through: LocalDay, limit: Int = .max
    ) throws -> [ActivitySummaryRecord] {
        let query = try database.prepare(
            """
            SELECT date, payload FROM activity_summaries WHERE user = (SELECT id FROM users WHERE name = ?) AND date >= ?
            AND date <= ? ORDER BY date LIMIT ?
            """)
        query.bind(1, user)
        query.bind(2, from.description)
        query.bind(3, through.description)
        query.bind(4, limit)
        var summaries: [ActivitySummaryRecord] = []
        try query.forEachRow { summaries.append(ActivitySummaryRecord(date: $0.string(0), payload: $0.string(1))) }
        return summaries
    }

    /// The stretches of a route as JSON, in order; empty if there is no route under that path.
    package func route(user: String, path: String) throws -> [[UInt8]] {
        let query = try database.prepare(
            """
            SELECT points FROM routes WHERE user = (SELECT id FROM users WHERE name = ?) AND path = ? ORDER BY first_point
            """)
        query.bind(1, user)
        query.bind(2, path)
        var stretches: [[UInt8]] = []
        try query.forEachRow { stretches.append($0.bytes(0)) }
        return stretches
    }
}
