import HealthImport
import HealthModel
import HealthStatistics
import HealthStore

/// One file while it is being read: what this attempt has met so far.
final class ImportAttempt {
    let id: String
    let session: ImportSession
    let startedAt: MonotonicTime
    var counts = IngestCounts()
    /// Inputs that couldn't be understood.
    private(set) var quarantinedInputs: Int64 = 0
    /// The same by type, as far as they say one; by their elements' names where they don't.
    private var inputsByType: [String: Int64] = [:]
    /// Types that a report lists; an input can make up as many as it likes.
    private static let typeLimit = 2000
    var bytesRead: Int64 = 0
    var bytesTotal: Int64 = 0
    var export: ExportInfo?
    /// The date of birth that the export says is in the future, or before anyone living was born: it isn't learned.
    var hasImpossibleBirth = false
    /// How it goes on once the file has been read; nil before, and for a plain import.
    var ending: ImportEnding?
    /// Of the route whose pieces come now.
    var routeSummary = RouteSummary()

    init(id: String, source: String, startedAt: MonotonicTime) {
        self.id = id
        session = ImportSession(source: source)
        self.startedAt = startedAt
    }

    func count(_ inputs: [QuarantinedInput]) {
        quarantinedInputs += Int64(inputs.count)
        for input in inputs {
            let type = HealthStoreReader.typeOrElement(of: input.raw)
            let isListed = inputsByType[type] != nil || inputsByType.count < Self.typeLimit
            inputsByType[isListed ? type : IngestCounts.otherTypes, default: 0] += 1
        }
    }

    var records: Int64 { Int64(counts.total.read) }

    /// What `healthbus import --json` prints of a file.
    func report(of entry: ImportLedger.Entry, summary: ReadSummary) -> Value {
        var byType: [String: Value] = [:]
        var totals = (added: Int64(0), known: Int64(0), deleted: Int64(0), quarantined: Int64(0))
        for type in Set(counts.byType.keys).union(inputsByType.keys) {
            let tally = counts.byType[type] ?? .init()
            let inputs = inputsByType[type] ?? 0
            let quarantined = Int64(tally.quarantined)
            let deleted = Int64(tally.deleted)
            let added = entry.added[type] ?? 0
            // What was only tried out, and refused, is neither added nor known.
            let isRefused = entry.plan?.isTryingOut == true && entry.plan?.isTrial == false
            let known =
                isRefused ? Int64(tally.known + tally.joined) : Int64(tally.read) - added - quarantined - deleted
            var members: [String: Value] = [
                "read": .integer(Int64(tally.read) + inputs), "added": .integer(added), "known": .integer(known),
                "deleted": .integer(deleted), "quarantined": .integer(quarantined + inputs),
            ]
            if entry.plan?.isComplete == true {
                members["deletedByAbsence"] = .integer(entry.plan?.deleted[type] ?? 0)
            }
            byType[type] = .object(members)
            totals = (
                totals.added + added, totals.known + known, totals.deleted + deleted, totals.quarantined + quarantined
            )
        }
        var report: [String: Value] = [
            "path": .string(entry.path), "read": .integer(records + quarantinedInputs),
            "added": .integer(totals.added), "known": .integer(totals.known), "deleted": .integer(totals.deleted),
            "quarantined": .integer(totals.quarantined + quarantinedInputs), "byType": .object(byType),
            "seconds": .number(entry.seconds), "recordElements": .integer(Int64(summary.recordElements)),
            "workouts": .integer(Int64(summary.workouts)), "routes": .integer(Int64(summary.routes)),
            "activitySummaries": .integer(Int64(summary.activitySummaries)),
            "activitySummariesWithoutDay": .integer(Int64(summary.activitySummariesWithoutDay)),
            "workoutValuesLeftOut": .integer(Int64(summary.workoutValuesLeftOut)),
            "ignoredEntries": .array(summary.ignoredEntries.map { .string($0) }),
            "otherExports": .array(summary.otherExports.map { .string($0) }),
            "impossibleDateOfBirth": .bool(hasImpossibleBirth),
            "damaged": Value(summary.damaged?.description),
            "cut": .bool(summary.damaged?.isCut == true),
        ]
        if let plan = entry.plan { report["dryRun"] = .bool(plan.isTrial) }
        if let plan = entry.plan, plan.isComplete {
            report["complete"] = true
            report["exportDate"] = Value(plan.exportedAt.map { InstantText.iso8601($0) })
            report["deletedByAbsence"] = .integer(plan.deleted.values.reduce(0, +))
            report["refused"] = Value(plan.refused)
        }
        return .object(report)
    }
}

extension IngestCounts.Tally {
    /// Records that were looked at.
    var read: Int { added + known + joined + revived + deleted + quarantined }
}
