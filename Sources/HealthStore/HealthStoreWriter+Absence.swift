import HealthModel
import SQLite

/// An export that is the whole truth for the types and the time that it covers, once all of its records went through a session.
package struct CompleteExport {
    package let session: ImportSession
    /// When the phone wrote it.
    package var date: Instant
    /// The store's sequence when the import began: what was born later isn't judged by it.
    package var before: SequenceNumber

    package init(session: ImportSession, date: Instant, before: SequenceNumber) {
        self.session = session
        self.date = date
        self.before = before
    }
}

/// How far the store has been held against a complete export.
package struct AbsenceProgress: Sendable, Equatable {
    /// Rows looked at so far are those up to this sequence.
    package var after = SequenceNumber.beginning
    /// The last sequence to look at; nil before the first step.
    package var through: SequenceNumber?
    package var isDone = false

    package init() {}
}

/// Samples that an export could hold, and those of them that it lacks, by type.
package struct AbsenceCounts: Sendable, Equatable {
    package var covered: [String: Int] = [:]
    package var absent: [String: Int] = [:]

    package init() {}

    package static func += (a: inout AbsenceCounts, b: AbsenceCounts) {
        a.covered.merge(b.covered, uniquingKeysWith: +)
        a.absent.merge(b.absent, uniquingKeysWith: +)
    }
}

extension HealthStoreWriter {
    /// One step of counting what a complete export lacks; changes nothing. Run it until the progress is done.
    ///
    /// It covers the types of its records, each from the start of the first one on. Lacking are living samples of these that no record of it has claimed. Spared are
    /// samples that didn't come by an export (they have a HealthKit UUID, or were never in HealthKit), those that ended or were stored
    /// after its date, and those that the store got since the import began.
    /// - Parameter limit: rows to look at in this step.
    package func countAbsent(
        from export: CompleteExport, _ progress: inout AbsenceProgress, limit: Int = 50_000
    ) throws -> AbsenceCounts {
        forgetWhatWasUndone()
        try join(export.session)
        guard let user = try users.existing(self.user) else {
            progress.isDone = true
            return AbsenceCounts()
        }
        return try compare(export, &progress, limit: limit, user: user).counts
    }

    /// One step of deleting what a complete export lacks, as `countAbsent` says; each step in a transaction of its own. A later add
    /// lifts the delete.
    /// - Returns: what this step deleted.
    package func deleteAbsent(
        from export: CompleteExport, _ progress: inout AbsenceProgress, limit: Int = 50_000
    ) throws -> [String: Int] {
        try change(settle: false) { user in
            try join(export.session)
            let (counts, gone) = try compare(export, &progress, limit: limit, user: user)
            for sequence in gone {
                guard let row = try row(at: sequence) else { continue }
                try bury(row, as: .absent, user: user)
            }
            if progress.isDone {
                try heads.flush(user: user, settle: false)
                try heads.settle(user: user)
            }
            return counts.absent
        }
    }

    private func compare(
        _ export: CompleteExport, _ progress: inout AbsenceProgress, limit: Int, user: Int
    ) throws -> (counts: AbsenceCounts, gone: [SequenceNumber]) {
        let through = progress.through ?? sequence
        progress.through = through
        var types: [Int: (name: String, firstSecond: Int64)] = [:]
        for (name, second) in export.session.firstSeconds {
            if let id = try self.types.existing(name) { types[id] = (name, second) }
        }
        let query = try database.prepare(
            """
            SELECT seq, user, type, state, second, start_us, duration, flags, created, born, uuid IS NULL FROM samples
            WHERE seq > ? AND seq <= ? ORDER BY seq
            """)
        query.bind(1, progress.after.value)
        query.bind(2, through.value)
        defer { query.reset() }
        var counts = AbsenceCounts()
        var gone: [SequenceNumber] = []
        var scanned = 0
        while try query.step() {
            scanned += 1
            progress.after = SequenceNumber(query.int64(0))
            if query.int(1) == user, let type = types[query.int(2)], query.int64(4) >= type.firstSecond,
                Self.couldHold(query, export)
            {
                counts.covered[type.name, default: 0] += 1
                if !export.session.hasClaimed(progress.after) {
                    counts.absent[type.name, default: 0] += 1
                    gone.append(progress.after)
                }
            }
            if scanned == limit { return (counts, gone) }
        }
        progress.after = through
        progress.isDone = true
        return (counts, gone)
    }

    /// Whether an export of that date would have a row, were it still in HealthKit.
    private static func couldHold(_ row: Statement, _ export: CompleteExport) -> Bool {
        let end = row.int64(4) &* Instant.microsecondsPerSecond &+ row.int64(5) &+ row.int64(6)
        // A row that has changed since keeps the sequence that it was born with.
        let born = row.int64(9) == 0 ? row.int64(0) : row.int64(9)
        return row.int64(3) == Int64(SampleState.alive.rawValue) && Instant(microseconds: end) <= export.date
            && row.int64(8) <= export.date.flooredSecond
            && row.int64(7) & Int64(RecordFlags.manual.rawValue) == 0 && row.int64(10) != 0
            && born <= export.before.value
    }
}
