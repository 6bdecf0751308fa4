import HealthModel
import HealthStore
import ObserverReading
import Protocol
import SQLite
import StageKit

/// One pass over what an earlier release stored twice, user by user, in steps: a search, a repair or its undo.
struct DoublesJob {
    let request: RepairRequest
    /// Those whose samples haven't been looked at yet; the current one comes first.
    var users: [String]
    var progress: DoublesProgress
    /// For an undo: how far it has got with the current user.
    var undo: RepairUndo?
    var report: DoublesReport

    /// Everybody can read a heartbeat, so the outcome contains no names of sources.
    var state: RepairOutcome {
        guard users.isEmpty else { return .underWay(left: Int64(users.count), goesOn: true) }
        var reported = report
        for index in reported.users.indices { reported.users[index].renamed = [] }
        return .done(Value(reported))
    }
}

extension ObserverStage {
    func beginDoubles(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        guard attempt == nil, imports.firstOpen == nil else {
            return .refused("an import is under way; 'healthbus imports list' shows when it is over, try again then")
        }
        let reader = try HealthStoreReader(database: turn.database)
        var users = try reader.userNames()
        if let user = request.user {
            guard users.contains(user) else { return .refused("there are no samples of user '\(user)'") }
            users = [user]
        }
        if request.revert == true {
            users = try users.filter { try writer(for: $0, turn).lastRepair() != nil }
            guard !users.isEmpty else { return .refused("nothing was repaired, or the repair has been undone already") }
        }
        let isTrial = request.dryRun == true
        let job = DoublesJob(
            request: request, users: users, progress: DoublesProgress(id: request.id, isTrial: isTrial),
            report: DoublesReport(id: request.id, dryRun: isTrial ? true : nil, users: []))
        doubling = job
        if users.isEmpty { try ImportTables.doublesFound.set("last", to: Value(job.report), turn) }
        return job.state
    }

    /// One step; nil if there is no such job.
    func goOnDoubles(_ turn: Turn) throws -> RepairOutcome? {
        guard var job = doubling else { return nil }
        guard let user = job.users.first else {
            doubling = nil
            return job.state
        }
        defer { doubling = job }
        if job.request.revert == true {
            let writer = try writer(for: user, turn)
            _ = try turn.write()
            var undo = try job.undo ?? RepairUndo(id: writer.lastRepair() ?? "")
            try writer.undoRepair(&undo, limit: rowsPerStep)
            job.undo = undo
            guard undo.isDone else { return job.state }
            job.report.users.append(undo.counts.report(of: user))
        } else {
            guard let counts = try step(&job.progress, user, turn) else { return job.state }
            job.report.users.append(counts.report(of: user))
            if job.request.dryRun != true { try note(doubles: 0, of: user, turn) }
        }
        try refreshHeads()
        job.users.removeFirst()
        job.undo = nil
        job.progress = DoublesProgress(id: job.request.id, isTrial: job.request.dryRun == true)
        if job.users.isEmpty { try ImportTables.doublesFound.set("last", to: Value(job.report), turn) }
        // An undo leaves as many as a new search finds.
        if job.request.revert == true { try forgetSurvey(of: user, turn) }
        return job.state
    }

    /// - Returns: what was found once it is all there.
    private func step(_ progress: inout DoublesProgress, _ user: String, _ turn: Turn) throws -> DoublesCounts? {
        let writer = try writer(for: user, turn)
        if !progress.isTrial { _ = try turn.write() }
        let counts = try writer.settleDoubles(&progress, dates: importTimes(of: user, turn), limit: rowsPerStep)
        try refreshHeads()
        return progress.isDone ? counts : nil
    }

    /// When imports were handed over: exports of which nothing else is known are about as old.
    private func importTimes(of user: String, _ turn: Turn) throws -> [String: Instant] {
        let times = try turn.database.prepare("SELECT id, submitted FROM imports WHERE user = ?").with(user).rows {
            ($0.string(0), Instant(microseconds: $0.int64(1)))
        }
        return Dictionary(times) { $1 }
    }

    // MARK: After an upgrade

    /// Finds out whose samples have to be searched because an earlier release stored them.
    func openSurvey(_ turn: Turn) throws {
        let isUpgraded = try turn.database.prepare("SELECT min(version) FROM store_schema").firstRow {
            $0.int(0) < HealthStoreSchema.firstWithSightings
        }
        var known: Set<String> = []
        doubles = 0
        try ImportTables.doubles.forEach(in: turn.database) { user, samples in
            known.insert(user)
            doubles += samples.int ?? 0
        }
        surveys =
            isUpgraded == true
            ? try HealthStoreReader(database: turn.database).userNames().filter { !known.contains($0) } : []
    }

    /// One step of the search, between imports.
    /// - Returns: whether there is more to do.
    func goOnSurvey(_ turn: Turn) throws -> Bool {
        guard attempt == nil, imports.firstOpen == nil, doubling == nil, let user = surveys.first else { return false }
        var progress = surveying ?? DoublesProgress(id: "", isTrial: true)
        if let counts = try step(&progress, user, turn) {
            surveys.removeFirst()
            surveying = nil
            try note(doubles: Int64(counts.samples), of: user, turn)
        } else {
            surveying = progress
        }
        return !surveys.isEmpty
    }

    private func note(doubles count: Int64, of user: String, _ turn: Turn) throws {
        try ImportTables.doubles.set(user, to: .integer(count), turn)
        doubles = 0
        try ImportTables.doubles.forEach(in: turn.database) { doubles += $1.int ?? 0 }
    }

    private func forgetSurvey(of user: String, _ turn: Turn) throws {
        try ImportTables.doubles.remove(user, turn)
        try openSurvey(turn)
    }
}

extension DoublesCounts {
    fileprivate func report(of user: String) -> DoublesReport.User {
        .init(
            user: user, renamed: renamed.map { .init(from: $0.from, to: $0.to, samples: Int64($0.samples)) },
            replaced: replaced.mapValues { Int64($0) }, merged: merged.mapValues { Int64($0) })
    }
}
