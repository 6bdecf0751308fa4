import HealthModel
import HealthStore
import ObserverReading
import Protocol
import StageKit

/// Taking back the samples of an import or a device: one walk over the store, in steps.
struct Undoing {
    let request: RepairRequest
    let user: String
    var progress: TakeBackProgress
    var counts = TakeBackCounts()
    /// The maximum number of rows that the walk may still have to examine.
    var left: Int64 = 1

    var isTrial: Bool { request.dryRun == true }

    var state: RepairOutcome {
        guard progress.isDone else { return .underWay(left: max(1, left), goesOn: true) }
        return .done(Value(reported))
    }

    var reported: UndoReport {
        UndoReport(
            dryRun: isTrial ? true : nil, taken: counts.taken.mapValues { Int64($0) },
            kept: counts.kept.mapValues { Int64($0) })
    }
}

extension ObserverStage {
    /// Begins, or continues after a restart: samples taken back before the restart are counted only once.
    func undo(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        let choice: BringerChoice
        let user: String
        switch (request.import, request.device) {
        case (let id?, nil):
            guard let entry = try imports.entry(id, turn) else {
                return .refused("there is no import '\(id)'; 'healthbus imports list' shows them")
            }
            if let refusal = Self.refusal(toUndo: entry) { return .refused(refusal) }
            (choice, user) = (.importing(id: id), entry.user)
        case (nil, let device?): (choice, user) = (.device(device), request.user ?? defaultUser)
        default: return .refused("the request doesn't say what to take back; name an import, or a device")
        }
        guard let progress = try writer(for: user, turn).beginTakingBack(choice) else {
            return .refused(
                request.import == nil
                    ? "no device with that name has sent data for that user, at least not since healthbus records where samples "
                        + "come from; 'healthbus token list' shows the names of devices"
                    : "nothing is recorded for this import: it was made with an earlier release, or brought nothing; "
                        + "its samples count as coming from elsewhere, and stay")
        }
        var undoing = Undoing(request: request, user: user, progress: progress)
        if let kept = try ImportTables.undos.value(request.id, in: turn.database)?.read(UndoReport.self) {
            undoing.counts.taken = kept.taken.mapValues { Int($0) }
        }
        self.undoing = undoing
        return undoing.state
    }

    private static func refusal(toUndo entry: ImportLedger.Entry) -> String? {
        if entry.undone != nil { return "this import has already been taken back" }
        if entry.plan?.isTrial == true { return "this import was only a dry run, and brought nothing" }
        switch entry.state {
        case .announced, .receiving, .open: return "this import isn't over; take it back when it is"
        case .closed, .failed: return nil
        }
    }

    /// One step.
    func goOnUndoing(_ turn: Turn) throws -> RepairOutcome? {
        guard var job = undoing else { return nil }
        defer { undoing = job }
        guard !job.progress.isDone else { return job.state }
        let writer = try writer(for: job.user, turn)
        if job.isTrial {
            job.counts += try writer.countBrought(&job.progress, limit: rowsPerStep)
        } else {
            _ = try turn.write()
            let step = try writer.takeBack(&job.progress, limit: rowsPerStep)
            job.counts += step
            if job.progress.isDone {
                try ImportTables.undos.remove(job.request.id, turn)
                try noteUndone(job, turn)
            } else if !step.taken.isEmpty {
                try ImportTables.undos.set(job.request.id, to: Value(job.reported), turn)
            }
            try refreshHeads()
        }
        job.left = turn.head.sequence.value - (job.progress.after ?? .beginning).value
        return job.state
    }

    private func noteUndone(_ job: Undoing, _ turn: Turn) throws {
        guard let id = job.request.import, var entry = try imports.entry(id, turn) else { return }
        entry.undone = turn.now
        try imports.save(entry, turn)
    }
}
