import HealthModel
import SQLite

extension HealthStoreWriter {
    /// Deletes samples by HealthKit UUID, for good: also one that isn't known yet stays out when it comes.
    /// - Returns: how many rows became tombstones.
    @discardableResult
    public func delete(uuids: [SampleID]) throws -> Int {
        try change { user in
            var deleted = 0
            for uuid in uuids {
                statements.findUUID.bind(1, user)
                statements.findUUID.bind(2, uuid)
                let found = try statements.findUUID.firstRow { ($0.isNull(0) ? nil : $0.int64(0), $0.int64(1) != 0) }
                if found?.1 == true { continue }
                if let sequence = found?.0, let row = try row(at: sequence) {
                    try bury(row, as: .deleted, user: user)
                    deleted += 1
                } else {
                    try register(uuid, user: user, sequence: nil, deleted: true)
                }
            }
            return deleted
        }
    }

    /// Deletes samples by their own id, for good.
    /// - Parameter type: spares looking through all types.
    /// - Returns: how many rows became tombstones.
    @discardableResult
    public func delete(ids: [SampleID], type: String? = nil) throws -> Int {
        try change { user in
            var deleted = 0
            let candidates = try typesHeld(by: user, named: type)
            for id in ids {
                // The id begins with the start's milliseconds; what lies before 1970 has none.
                let second = Int64(id.high >> 16) / 1000
                for candidate in candidates {
                    var found = try row(user: user, type: candidate, second: second, id: id)
                    if found == nil, second == 0 { found = try row(before1970: id, user: user, type: candidate) }
                    guard let row = found else { continue }
                    if row.state != .deleted {
                        try bury(row, as: .deleted, user: user)
                        deleted += 1
                    }
                    break
                }
            }
            return deleted
        }
    }

    func bury(_ old: StoredRow, as state: SampleState, user: Int) throws {
        var row = old
        row.state = state
        try rewrite(&row, was: old, user: user)
    }

    private func typesHeld(by user: Int, named name: String?) throws -> [Int] {
        if let name { return try types.existing(name).map { [$0] } ?? [] }
        let query = try database.prepare("SELECT type FROM heads WHERE user = ?")
        query.bind(1, user)
        var types: [Int] = []
        try query.forEachRow { types.append($0.int(0)) }
        return types
    }

    private func row(before1970 id: SampleID, user: Int, type: Int) throws -> StoredRow? {
        let query = try database.prepare(
            "SELECT \(StoredRow.columns) FROM samples WHERE user = ? AND type = ? AND second < 0 AND id = ?")
        query.bind(1, user)
        query.bind(2, type)
        query.bind(3, id)
        return try query.firstRow { StoredRow($0) }
    }
}

/// How far a delete by absence has come.
public struct AbsenceProgress: Sendable, Equatable {
    /// Rows that became tombstones in this step.
    public var deleted = 0
    /// Rows looked at so far are those up to this sequence.
    public var after: Int64 = 0
    /// The last sequence to look at; nil before the first step.
    public var through: Int64?
    public var isDone = false

    public init() {}
}

extension HealthStoreWriter {
    /// One step of deleting what a complete export doesn't hold; run it until `isDone`, each step in a transaction of its own.
    ///
    /// Gone are rows alive before the session began that it hasn't claimed. Spared are samples that were never in HealthKit, and
    /// those that may be younger than the export: what ends, or was stored, after `date`. A later add lifts the delete.
    /// - Parameters:
    ///   - session: a whole import of that export: every record went through it.
    ///   - date: when the export was made.
    ///   - limit: rows to look at in this step.
    public func deleteByAbsence(
        session: ImportSession, exportedAt date: Instant, progress: AbsenceProgress = AbsenceProgress(),
        limit: Int = 50_000
    ) throws -> AbsenceProgress {
        try change(settle: false) { user in
            try join(session)
            var progress = progress
            let through = progress.through ?? min(session.firstSequence, sequence)
            progress.through = through
            progress.deleted = 0
            let gone = try absent(session, date, &progress, through: through, limit: limit, user: user)
            for sequence in gone {
                guard let row = try row(at: sequence) else { continue }
                try bury(row, as: .absent, user: user)
            }
            progress.deleted = gone.count
            if progress.isDone {
                try heads.flush(user: user, settle: false)
                try heads.settle(user: user)
            }
            return progress
        }
    }

    private func absent(
        _ session: ImportSession, _ date: Instant, _ progress: inout AbsenceProgress, through: Int64, limit: Int,
        user: Int
    ) throws -> [Int64] {
        let query = try database.prepare(
            """
            SELECT seq, user, state, second, start_us, duration, flags, created FROM samples WHERE seq > ? AND seq <= ? ORDER BY seq
            """)
        query.bind(1, progress.after)
        query.bind(2, through)
        var gone: [Int64] = []
        var scanned = 0
        while try query.step() {
            scanned += 1
            progress.after = query.int64(0)
            let end = query.int64(3) &* Instant.second &+ query.int64(4) &+ query.int64(5)
            if query.int(1) == user, query.int64(2) == Int64(SampleState.alive.rawValue), end <= date,
                query.int64(7) <= date.flooredSecond,
                query.int64(6) & Int64(RecordFlags.manual.rawValue) == 0, !session.hasClaimed(progress.after)
            {
                gone.append(progress.after)
            }
            if scanned == limit { return gone }
        }
        progress.after = through
        progress.isDone = true
        return gone
    }
}
