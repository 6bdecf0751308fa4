import HealthModel
import SQLite

/// How far a take-back has progressed.
package struct TakeBackProgress: Sendable, Equatable {
    /// The numbers of the origins whose rows are taken back.
    let bringers: [Int]
    /// Rows up to this sequence have been examined; nil before the first step.
    package var after: SequenceNumber?
    /// Whether all rows have been examined.
    var isWalked = false
    /// What remains after that: the names of sources.
    var names = NameProgress()
    package var isDone = false
}

/// The samples that these origins have added or confirmed and that aren't deleted, counted by type.
package struct TakeBackCounts: Sendable, Equatable {
    /// Samples that have no other origin; these are deleted.
    package var taken: [String: Int] = [:]
    /// Samples that have, or may have, another origin as well; these are kept.
    package var kept: [String: Int] = [:]

    package init() {}

    package static func += (a: inout TakeBackCounts, b: TakeBackCounts) {
        a.taken.merge(b.taken, uniquingKeysWith: +)
        a.kept.merge(b.kept, uniquingKeysWith: +)
    }
}

extension HealthStoreWriter {
    /// Begins to take back everything that came from an import, or from a device by any of the ways it uses.
    /// - Returns: nil when nothing was ever recorded for it.
    package func beginTakingBack(_ choice: BringerChoice) throws -> TakeBackProgress? {
        forgetWhatWasUndone()
        guard let user = try users.existing(self.user) else { return nil }
        let bringers = try brought.numbers(choice, user: user)
        return bringers.isEmpty ? nil : TakeBackProgress(bringers: bringers)
    }

    /// Performs one step of counting what would be deleted; changes nothing. Repeat until the progress is done.
    /// - Parameter limit: how many rows to examine in this step.
    package func countBrought(_ progress: inout TakeBackProgress, limit: Int = 50_000) throws -> TakeBackCounts {
        forgetWhatWasUndone()
        guard let user = try users.existing(self.user) else {
            progress.isDone = true
            return TakeBackCounts()
        }
        let counts = try survey(&progress, limit: limit, user: user).counts
        progress.isDone = progress.isWalked
        return counts
    }

    /// Performs one step of taking back; each step is a transaction of its own. A later add undoes the deletion, as it
    /// does after a complete export. The last step also deletes what was recorded for the origins.
    /// - Returns: what this step deleted and kept.
    package func takeBack(_ progress: inout TakeBackProgress, limit: Int = 50_000) throws -> TakeBackCounts {
        if progress.isWalked {
            if !progress.names.isDone {
                _ = try settleNames(of: nil, &progress.names, limit: limit)
            } else {
                progress.isDone = try settleForms().isDone
                if progress.isDone { try settleWorkouts() }
            }
            return TakeBackCounts()
        }
        return try change(settle: false) { user in
            let (counts, gone) = try survey(&progress, limit: limit, user: user)
            try removeRows(at: gone, user: user)
            if progress.isWalked {
                try forgetVersions(broughtBy: progress.bringers, user: user)
                try settleAll(user: user)
                try brought.forget(progress.bringers)
                try names.forget(progress.bringers, user: user)
                try unsettleReplaced(user: user)
                try heads.finish(user: user)
            }
            return counts
        }
    }

    /// Rows that change in the meantime come up again at the end, so the walk ends at the store's current head.
    private func survey(
        _ progress: inout TakeBackProgress, limit: Int, user: Int
    ) throws -> (counts: TakeBackCounts, gone: [SequenceNumber]) {
        var counts = TakeBackCounts()
        var gone: [SequenceNumber] = []
        guard let begin = try progress.after ?? brought.firstBirth(of: progress.bringers) else {
            progress.isWalked = true
            return (counts, gone)
        }
        let after = progress.after ?? SequenceNumber(begin.value - 1)
        let since = try brought.since()
        var notes = BroughtNotes(brought, of: progress.bringers)
        let step = try walk(SequenceWindow(after: after, through: sequence), .times, limit: limit, user: user) {
            row, _ in
            guard row.state == .alive else { return true }
            let origins = try notes.origins(of: row.born)
            guard origins.theirs else { return true }
            let name = try types.name(row.type)
            if row.born.value > since, !origins.others {
                counts.taken[name, default: 0] += 1
                gone.append(row.sequence)
            } else {
                counts.kept[name, default: 0] += 1
            }
            return true
        }
        (progress.after, progress.isWalked) = step
        return (counts, gone)
    }

    /// Records what a session has claimed since the last call.
    func noteBrought(by session: ImportSession, user: Int) throws {
        let claims = session.takeNewClaims()
        guard !claims.isEmpty else { return }
        let bringer = try session.bringerNumber ?? brought.number(session.bringer, user: user)
        if session.bringerNumber == nil, session.isFile, let exported = session.exported {
            try brought.date(bringer, exported: exported.microseconds)
        }
        session.bringerNumber = bringer
        for (number, births) in claims { try brought.add(births, at: number, of: bringer) }
    }
}
