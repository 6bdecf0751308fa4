import HealthImport
import HealthModel
import HealthStatistics
import HealthStore
import Protocol

/// One file while it is being read: what this attempt has found so far.
final class ImportAttempt {
    let id: String
    /// The effect that reads the file: anything from a different effect belongs to an earlier attempt.
    let effect: Int64
    let session: ImportSession
    let startedAt: MonotonicTime
    var counts = IngestCounts()
    /// Inputs that couldn't be understood, dropped ones included.
    private(set) var notUnderstood: Int64 = 0
    /// The number of inputs by type or, for those that state none, by the name of the element.
    private var inputsByType: [String: Inputs] = [:]

    private struct Inputs {
        var quarantined: Int64 = 0
        /// Those that a person has dropped from the quarantine.
        var dropped: Int64 = 0
    }

    /// How many types a report lists; an input can invent any number of them.
    private static let typeLimit = 2000
    var bytesRead: Int64 = 0
    var bytesTotal: Int64 = 0
    var export: ExportInfo?
    /// Whether the date of birth in the export is in the future or implausibly long ago, so that it isn't adopted.
    var hasImpossibleBirth = false
    /// How samples of the store have changed because the file has other forms of them, or other names.
    var rewrites = ImportRewrites()
    /// The remaining steps once the file has been read; nil before that.
    var ending: ImportEnding?
    /// A summary of the route whose pieces are being received.
    var routeSummary = RouteSummary()

    init(id: String, source: String, effect: Int64, startedAt: MonotonicTime) {
        (self.id, self.effect) = (id, effect)
        session = ImportSession(source: source, bringer: .importing(id: id))
        self.startedAt = startedAt
    }

    /// - Parameter dropped: for each input, whether a person has dropped it.
    func count(_ inputs: [QuarantinedInput], dropped: [Bool]) {
        notUnderstood += Int64(inputs.count)
        for (input, isDropped) in zip(inputs, dropped) {
            let type = HealthStoreReader.typeOrElement(of: input.raw)
            let isListed = inputsByType[type] != nil || inputsByType.count < Self.typeLimit
            let name = isListed ? type : IngestCounts.otherTypes
            if isDropped {
                inputsByType[name, default: Inputs()].dropped += 1
            } else {
                inputsByType[name, default: Inputs()].quarantined += 1
            }
        }
    }

    /// Whether any workouts in the file couldn't be understood.
    var lacksWorkouts: Bool { inputsByType.keys.contains { $0.contains("Workout") } }

    var records: Int64 { Int64(counts.total.read) }

    /// What `healthbus import --json` prints for a file.
    func report(of entry: ImportLedger.Entry, summary: ReadSummary) -> Value {
        var byType: [String: ImportReport.Tally] = [:]
        var total = ImportReport.Tally(
            read: records + notUnderstood, added: 0, known: 0, deleted: 0, quarantined: 0)
        for type in Set(counts.byType.keys).union(inputsByType.keys) {
            let tally = counts.byType[type] ?? .init()
            let inputs = inputsByType[type] ?? Inputs()
            let quarantined = Int64(tally.quarantined) + inputs.quarantined
            let deleted = Int64(tally.deleted) + inputs.dropped
            let read = Int64(tally.read) + inputs.quarantined + inputs.dropped
            let added = entry.added[type] ?? 0
            // Samples of an import that was only tried, and then refused, are neither added nor known.
            let isRefused = entry.plan?.isTryingOut == true && entry.plan?.isTrial == false
            let known =
                isRefused ? Int64(tally.known + tally.joined) : read - added - quarantined - deleted
            var reported = ImportReport.Tally(
                read: read, added: added, known: known, deleted: deleted, quarantined: quarantined)
            if entry.plan?.isComplete == true { reported.deletedByAbsence = entry.plan?.deleted[type] ?? 0 }
            if let replaced = rewrites.replaced[type], !isRefused { reported.replaced = Int64(replaced) }
            byType[type] = reported
            total.added += added
            total.known += known
            total.deleted += deleted
            total.quarantined += quarantined
        }
        var report = ImportReport(path: entry.path, total: total, byType: byType, seconds: entry.seconds)
        report.source.recordElements = Int(summary.recordElements)
        report.source.workouts = Int(summary.workouts)
        report.source.routes = Int(summary.routes)
        report.source.activitySummaries = Int(summary.activitySummaries)
        report.source.activitySummariesWithoutDay = Int(summary.activitySummariesWithoutDay)
        report.source.workoutValuesLeftOut = Int(summary.workoutValuesLeftOut)
        report.source.electrocardiograms = summary.electrocardiograms
        report.source.clinicalRecords = summary.clinicalRecords
        report.source.attachments = summary.attachments
        report.source.unread = summary.unread
        report.source.ignoredEntries = summary.ignoredEntries
        report.source.otherExports = summary.otherExports
        report.source.impossibleDateOfBirth = hasImpossibleBirth
        if export?.isMadeUp == true { report.source.madeUp = true }
        if !rewrites.renamed.isEmpty {
            report.source.renamed = rewrites.renamed.map {
                .init(from: $0.from, to: $0.to, samples: Int64($0.samples))
            }
        }
        if !summary.statistics.isEmpty { report.source.statistics = summary.statistics }
        report.source.damaged = summary.damaged?.description
        report.source.cut = summary.damaged?.isCut == true
        report.dryRun = entry.plan?.isTrial
        if let plan = entry.plan, plan.isComplete {
            report.completeness = .init(
                exportDate: plan.exportedAt.map { InstantText.iso8601($0) },
                deletedByAbsence: plan.deleted.values.reduce(0, +), refused: plan.refused)
        }
        return Value(report)
    }
}

extension IngestCounts.Tally {
    /// How many records were examined.
    var read: Int { added + known + joined + revived + deleted + quarantined }
}
