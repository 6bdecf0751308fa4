import Changelog
import HealthImport
import HealthModel
import HealthStore
import ObserverReading
import Protocol
import StageKit

/// The remaining steps of an import once its file has been read: names of sources are settled, and samples replace
/// other forms of the same measurements; then the store is compared with a complete file.
struct ImportEnding {
    let summary: ReadSummary
    /// Nil unless the export is complete.
    var export: CompleteExport?
    var names = NameProgress()
    var isSettled = false
    var progress = AbsenceProgress()
    var counts = AbsenceCounts()
}

extension ObserverStage {
    /// A file's own description comes first: a file that can't be complete isn't read any further, so that an older one
    /// restores nothing.
    func learn(_ info: ExportInfo, _ attempt: ImportAttempt, _ entry: inout ImportLedger.Entry, _ turn: Turn) throws {
        attempt.export = info
        attempt.session.exported = info.date
        if let problem = try problem(ofMixing: info, entry, turn) { return try giveUp(entry, problem, turn) }
        if entry.plan?.isComplete == true {
            entry.plan?.exportedAt = info.date
            if try refuse(ifNeeded: ReadSummary(), attempt, &entry, turn) { return }
        }
        guard let birth = info.dateOfBirth else { return }
        let born = SampleTimes.start(of: birth)
        guard (SampleTimes.earliest...SampleTimes.latest(now: turn.now)).contains(born) else {
            attempt.hasImpossibleBirth = true
            return
        }
        if entry.plan?.isTryingOut != true { try CharacteristicsTable.learn(info, user: entry.user, turn) }
    }

    /// The file has been read: a plain import ends; a complete one is compared with the store if there are no
    /// objections.
    func finish(
        _ summary: ReadSummary, _ attempt: ImportAttempt, _ entry: inout ImportLedger.Entry, _ turn: Turn
    ) throws {
        guard var plan = entry.plan else {
            attempt.ending = ImportEnding(summary: summary)
            return
        }
        plan.exportedAt = attempt.export?.date
        if plan.isTrial {
            // Samples deleted because an earlier complete export lacked them would be restored: they count as added.
            entry.added = attempt.counts.byType.compactMapValues { tally in
                tally.added + tally.revived > 0 ? Int64(tally.added + tally.revived) : nil
            }
        }
        entry.plan = plan
        if !plan.isComplete, plan.isTrial {
            attempt.rewrites.replaced = try writer(for: entry.user, turn).wouldBeReplaced(by: attempt.session)
            attempt.rewrites.renamed = attempt.session.renamings
            return try end(summary, attempt, &entry, turn)
        }
        if plan.isComplete, try refuse(ifNeeded: summary, attempt, &entry, turn) { return }
        attempt.ending = ImportEnding(summary: summary)
        if plan.isComplete {
            attempt.ending?.export = CompleteExport(
                session: attempt.session, date: plan.exportedAt ?? .distantPast,
                before: plan.begun ?? turn.head.sequence)
        }
        try imports.save(entry, turn)
    }

    /// One step. All of this is done before the samples that a complete export lacks are deleted, so that renamed,
    /// condensed and edited ones are distinguished from deleted ones.
    /// - Returns: whether it was the last.
    private func settle(
        _ ending: inout ImportEnding, _ attempt: ImportAttempt, _ entry: ImportLedger.Entry, _ turn: Turn
    ) throws -> Bool {
        guard entry.plan?.isTryingOut != true else { return true }
        let writer = try writer(for: entry.user, turn)
        _ = try turn.write()
        defer { changedTypes.formUnion(attempt.rewrites.types) }
        if !ending.names.isDone {
            attempt.rewrites.types = try writer.settleNames(of: attempt.session, &ending.names, limit: rowsPerStep)
            if !ending.names.renamings.isEmpty { attempt.rewrites.renamed = ending.names.renamings }
            guard ending.names.isDone else { return false }
            try settleWorkouts(ending.summary, attempt, entry, turn)
        }
        let step = try writer.settleForms()
        attempt.rewrites.add(step.counts)
        return step.isDone
    }

    /// Ends an import that was requested as complete but can't be; returns false when it can.
    private func refuse(
        ifNeeded summary: ReadSummary, _ attempt: ImportAttempt, _ entry: inout ImportLedger.Entry, _ turn: Turn
    ) throws -> Bool {
        let refusal = entry.plan?.refusal(
            damaged: summary.damaged?.description, notUnderstood: attempt.notUnderstood,
            newest: try imports.newestComplete(of: entry.user, turn))
        guard let refusal else { return false }
        try refuse(refusal, summary, attempt, &entry, turn)
        return true
    }

    /// One step. Of what a complete export lacks, everything that would be deleted is counted first; then, if that isn't
    /// too much, it is deleted.
    func goOnEnding(_ turn: Turn) throws {
        guard let attempt, var ending = attempt.ending, var entry = try imports.entry(attempt.id, turn) else { return }
        if !ending.isSettled {
            ending.isSettled = try settle(&ending, attempt, entry, turn)
            attempt.ending = ending
            // The attempt's report is lost in a crash, but what it has counted isn't.
            try noteRewrites(of: entry, attempt, turn)
            guard ending.isSettled else { return }
        }
        guard var plan = entry.plan, let export = ending.export else {
            return try end(ending.summary, attempt, &entry, turn)
        }
        if plan.isApproved {
            let writer = try writer(for: entry.user, turn)
            _ = try turn.write()
            let gone = try writer.deleteAbsent(from: export, &ending.progress, limit: rowsPerStep)
            plan.add(gone)
            changedTypes.formUnion(gone.keys)
            entry.plan = plan
            attempt.ending = ending
            guard ending.progress.isDone else { return try imports.save(entry, turn) }
            return try end(ending.summary, attempt, &entry, turn)
        }
        let writer = try writer(for: entry.user, turn)
        ending.counts += try writer.countAbsent(from: export, &ending.progress, limit: rowsPerStep)
        attempt.ending = ending
        guard ending.progress.isDone else { return }
        if let refusal = plan.refusal(ending.counts) {
            if plan.isTrial { plan.add(ending.counts.absent) }
            entry.plan = plan
            return try refuse(refusal, ending.summary, attempt, &entry, turn)
        }
        if plan.isTrial {
            plan.add(ending.counts.absent)
            entry.plan = plan
            attempt.rewrites.replaced = ending.counts.replaced
            attempt.rewrites.renamed = attempt.session.renamings
            return try end(ending.summary, attempt, &entry, turn)
        }
        guard plan.isRehearsed else {
            // Now the import begins for real, from the beginning of the file.
            plan.isRehearsed = true
            entry.plan = plan
            entry.seconds += (turn.monotonic - attempt.startedAt).seconds
            self.attempt = nil
            return try imports.save(entry, turn)
        }
        plan.isApproved = true
        entry.plan = plan
        attempt.ending?.progress = AbsenceProgress()
        try imports.save(entry, turn)
    }

    private func noteRewrites(of entry: ImportLedger.Entry, _ attempt: ImportAttempt, _ turn: Turn) throws {
        guard !attempt.rewrites.isEmpty else { return }
        try ImportTables.rewrites.set(entry.id, to: Value(attempt.rewrites.kept), turn)
    }

    private func refuse(
        _ reason: String, _ summary: ReadSummary, _ attempt: ImportAttempt, _ entry: inout ImportLedger.Entry,
        _ turn: Turn
    ) throws {
        entry.plan?.refused = reason
        try end(summary, attempt, &entry, turn)
    }

    /// The file is undamaged now: it contains the pieces recorded from an earlier, damaged copy.
    private func forgetPieces(of entry: ImportLedger.Entry, _ turn: Turn) throws {
        guard quarantined > 0 else { return }
        _ = try turn.write()
        let reasons = DamageReason.allCases.map(\.rawValue)
        quarantined -= Int64(try writer(for: entry.user, turn).forgetInputs(of: entry.path, reasons: reasons))
    }

    /// Lets edited workouts of the file replace their earlier versions.
    private func settleWorkouts(
        _ summary: ReadSummary, _ attempt: ImportAttempt, _ entry: ImportLedger.Entry, _ turn: Turn
    ) throws {
        guard entry.plan?.isTryingOut != true else { return }
        let isWhole = summary.damaged == nil && !attempt.lacksWorkouts
        _ = try turn.write()
        let isChanged = try writer(for: entry.user, turn).settleWorkouts(
            wholeExport: isWhole ? attempt.export?.date : nil)
        if isChanged { changedTypes.insert(HealthType.workoutIdentifier) }
    }

    private func end(
        _ summary: ReadSummary, _ attempt: ImportAttempt, _ entry: inout ImportLedger.Entry, _ turn: Turn
    ) throws {
        entry.seconds += (turn.monotonic - attempt.startedAt).seconds
        entry.report = attempt.report(of: entry, summary: summary)
        entry.problem = summary.damaged?.description
        if entry.plan?.isTryingOut != true {
            _ = try turn.write()
            try writer(for: entry.user, turn).dropUnfinishedDocuments()
            try ImportTables.rewrites.remove(entry.id, turn)
        }
        if summary.damaged == nil, entry.plan?.isTryingOut != true { try forgetPieces(of: entry, turn) }
        try close(&entry, .closed, turn)
    }
}
