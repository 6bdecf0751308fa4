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
        let heads = try query.rows { row in
            let edges = [6, 7, 8].map { row.optional($0).map { Instant(microseconds: $0) } }
            return TypeHead(
                user: try users.name(row.int(0)), type: try types.name(row.int(1)),
                sequence: SequenceNumber(row.int64(2)), alive: row.int(3), deleted: row.int(4),
                quarantined: row.int(5), firstStart: edges[0], lastStart: edges[1], lastEnd: edges[2])
        }
        return heads.filter { user == nil || user == $0.user }.sorted { ($0.user, $0.type) < ($1.user, $1.type) }
    }

    /// The latest change to each type, over all users, for types that have changed since the given sequences.
    package func heads(after sequence: SequenceNumber) throws -> [String: SequenceNumber] {
        try refresh()
        let query = try database.prepare("SELECT type, max(seq) FROM heads WHERE seq > ? GROUP BY type")
        var heads: [String: SequenceNumber] = [:]
        try query.with(sequence.value).forEachRow { heads[try types.name($0.int(0))] = SequenceNumber($0.int64(1)) }
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
        return try query.with(after, limit, user.flatMap { users.ids[$0] }).rows { row in
            QuarantineEntry(
                number: row.int64(0), user: try users.name(row.int(1)), source: row.string(2), line: row.int64(3),
                reason: row.string(4), raw: row.string(5), sample: row.sampleID(6), seen: row.int64(7))
        }
    }

    /// Names of sources over all users, sorted.
    package func sourceNames(limit: Int) throws -> [String] {
        let query = try database.prepare("SELECT DISTINCT source FROM origins ORDER BY source LIMIT ?")
        return try query.with(limit).rows { $0.string(0) }
    }

    package func hasSource(named name: String) throws -> Bool {
        let query = try database.prepare("SELECT 1 FROM origins WHERE source = ? LIMIT 1")
        return try query.with(name).hasRow()
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
        return try query.with(user, from.description, through.description, limit).rows {
            ActivitySummaryRecord(date: $0.string(0), payload: $0.string(1))
        }
    }

    /// The stretches of a route as JSON, in order; empty if there is no route under that path.
    package func route(user: String, path: String) throws -> [[UInt8]] {
        let query = try database.prepare(
            """
            SELECT points FROM routes WHERE user = (SELECT id FROM users WHERE name = ?) AND path = ? ORDER BY first_point
            """)
        return try query.with(user, path).rows { $0.bytes(0) }
    }
}
