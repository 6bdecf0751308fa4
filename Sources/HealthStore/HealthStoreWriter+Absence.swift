import HealthModel
import SQLite

/// An export that is complete for its types and the time that it covers; all of its records have gone through a
/// session.
package struct CompleteExport {
    package let session: ImportSession
    /// When the phone wrote the export.
    package var date: Instant
    /// The store's sequence when the import began; anything added later isn't deleted.
    package var before: SequenceNumber

    package init(session: ImportSession, date: Instant, before: SequenceNumber) {
        (self.session, self.date, self.before) = (session, date, before)
    }
}

/// How much of the store has been compared with a complete export.
package struct AbsenceProgress: Sendable, Equatable {
    /// Rows up to this sequence have been examined.
    package var after = SequenceNumber.beginning
    /// The last sequence to examine; nil before the first step.
    package var through: SequenceNumber?
    package var isDone = false

    package init() {}
}

/// The number of samples that an export could contain, and of those that it lacks, by type.
package struct AbsenceCounts: Sendable, Equatable {
    package var covered: [String: Int] = [:]
    package var absent: [String: Int] = [:]
    /// Those for which the export has another form of the same measurements; they aren't absent.
    package var replaced: [String: Int] = [:]

    package init() {}

    package static func += (a: inout AbsenceCounts, b: AbsenceCounts) {
        a.covered.merge(b.covered, uniquingKeysWith: +)
        a.absent.merge(b.absent, uniquingKeysWith: +)
        a.replaced.merge(b.replaced, uniquingKeysWith: +)
    }
}

extension HealthStoreWriter {
    /// Performs one step of counting what a complete export lacks; changes nothing. Repeat until `progress` is done.
    ///
    /// For each type among its records, the export covers the time from the start of the first record of that type. It
    /// lacks the samples of these types that none of its records has claimed. Some samples are exempt: those that
    /// didn't come from an export (they have a HealthKit UUID, were never in HealthKit, or only devices brought them),
    /// those that ended or were stored after the export's date, and those that the store received after the import
    /// began.
    /// - Parameter limit: how many rows to examine in this step.
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

    /// Performs one step of deleting what a complete export lacks, as defined at `countAbsent`; each step is a
    /// transaction of its own. If a sample is added again later, that undoes the deletion.
    /// - Returns: what this step deleted.
    package func deleteAbsent(
        from export: CompleteExport, _ progress: inout AbsenceProgress, limit: Int = 50_000
    ) throws -> [String: Int] {
        try change(settle: false) { user in
            try join(export.session)
            let (counts, gone) = try compare(export, &progress, limit: limit, user: user)
            try removeRows(at: gone, user: user)
            if progress.isDone {
                if export.session.firstSeconds[HealthType.workoutIdentifier] != nil {
                    try forgetVersions(lackingIn: export.date, user: user)
                }
                try heads.finish(user: user)
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
        var counts = AbsenceCounts()
        var gone: [SequenceNumber] = []
        let devices = try brought.devices(of: user)
        var notes = BroughtNotes(brought, of: devices)
        /// Whether devices brought the row, and no import did.
        func isOnlyPushed(_ row: StoredRow) throws -> Bool {
            guard !devices.isEmpty else { return false }
            let origins = try notes.origins(of: row.born)
            return origins.theirs && !origins.others
        }
        var replaced = try export.session.triedReplaced ?? wouldBeReplaced(by: export.session, user: user)
        export.session.triedReplaced = replaced
        let window = SequenceWindow(after: progress.after, through: through)
        let wants = { types[$0] != nil }
        (progress.after, progress.isDone) = try walk(window, .times, limit: limit, user: user, wants: wants) { row, _ in
            if let type = types[row.type], row.second >= type.firstSecond, Self.couldHold(row, export),
                try !isOnlyPushed(row)
            {
                counts.covered[type.name, default: 0] += 1
                if replaced.contains(row.born) {
                    counts.replaced[type.name, default: 0] += 1
                } else if !export.session.hasClaimed(row) {
                    counts.absent[type.name, default: 0] += 1
                    gone.append(row.sequence)
                }
            }
            return true
        }
        return (counts, gone)
    }

    /// Whether an export made on that date would contain a row's sample if it were still in HealthKit.
    private static func couldHold(_ row: StoredRow, _ export: CompleteExport) -> Bool {
        row.state == .alive && Instant(microseconds: row.start &+ row.duration) <= export.date
            && row.created <= export.date.flooredSecond && row.flags & RecordFlags.manual.rawValue == 0
            // A row that has changed still has the sequence with which it was added.
            && row.uuid == nil && row.born <= export.before
    }
}
