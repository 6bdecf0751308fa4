import HealthModel
import HealthStore
import Protocol

/// What was requested of an import besides importing its file, and how far that has got: stored with the import, so
/// that a crash loses nothing.
struct ImportPlan: Equatable {
    /// The export is complete for the types and the time that it covers: anything it lacks is deleted.
    var isComplete = false
    /// Reads everything, changes nothing.
    var isTrial = false
    /// The file is imported even if that mixes made-up data with a person's.
    var mixesMadeUp = false
    /// The percentage of the samples covered by the export that may be deleted.
    var deleteUpTo = Self.usualLimit
    /// The store's sequence number when the first attempt began: anything added later is left alone.
    var begun: SequenceNumber?
    /// When the phone wrote the export.
    var exportedAt: Instant?
    /// A complete import has been tried as a whole without objections: from now on, its content is stored.
    var isRehearsed = false
    /// The share to be deleted was small enough: the samples may be deleted.
    var isApproved = false
    /// What has been deleted, by type; for a trial, what would be.
    var deleted: [String: Int64] = [:]
    /// Why nothing was deleted.
    var refused: String?

    static let usualLimit = 5.0

    /// What a command requests; nil for a plain import.
    init?(_ command: ImportFile) {
        isComplete = command.complete == true
        isTrial = command.dryRun == true
        mixesMadeUp = command.mixMadeUp == true
        guard isComplete || isTrial || mixesMadeUp else { return nil }
        if let limit = command.deleteUpTo, (0...100).contains(limit) { deleteUpTo = limit }
    }

    /// As stored in the observer's file.
    private struct Kept: Codable {
        var complete: Bool
        var trial: Bool
        var deleteUpTo: Double?
        @OrNull var begun: SequenceNumber?
        @OrNull var exportedAt: Instant?
        var rehearsed: Bool?
        var approved: Bool?
        var deleted: [String: Int64]?
        @OrNull var refused: String?
        var mixMadeUp: Bool?
    }

    var wireValue: Value {
        Value(
            Kept(
                complete: isComplete, trial: isTrial, deleteUpTo: deleteUpTo, begun: begun, exportedAt: exportedAt,
                rehearsed: isRehearsed, approved: isApproved, deleted: deleted, refused: refused,
                mixMadeUp: mixesMadeUp ? true : nil))
    }

    init(wireValue value: Value) {
        guard let kept = value.read(Kept.self) else { return }
        isComplete = kept.complete
        isTrial = kept.trial
        deleteUpTo = kept.deleteUpTo ?? Self.usualLimit
        begun = kept.begun
        exportedAt = kept.exportedAt
        isApproved = kept.approved == true
        isRehearsed = kept.rehearsed == true || isApproved
        deleted = kept.deleted ?? [:]
        refused = kept.refused
        mixesMadeUp = kept.mixMadeUp == true
    }

    /// Whether the file is read without writing anything. A complete import is tried first, so that a refused one
    /// leaves nothing behind.
    var isTryingOut: Bool { isTrial || (isComplete && !isRehearsed) }

    mutating func add(_ counts: [String: Int]) {
        for (type, count) in counts { deleted[type, default: 0] += Int64(count) }
    }

    /// Why an export can't be accepted as complete, before it is compared with the store; nil when it can.
    /// - Parameter newest: the date of the newest complete export that was imported.
    func refusal(damaged: String?, notUnderstood: Int64, newest: Instant?) -> String? {
        if let damaged { return "the file is damaged: \(damaged)" }
        if notUnderstood > 0 {
            let entries = notUnderstood == 1 ? "1 entry in it isn't" : "\(notUnderstood) entries in it aren't"
            return "\(entries) understood, and --complete could delete the samples "
                + (notUnderstood == 1 ? "it stands for" : "they stand for")
        }
        guard let exportedAt else { return "it doesn't say when it was exported (no ExportDate)" }
        if let newest, exportedAt < newest {
            return "it was made at \(InstantText.iso8601(exportedAt)), and a complete export of "
                + "\(InstantText.iso8601(newest)) has already been imported"
        }
        return nil
    }

    /// Why this many samples aren't deleted; nil when they are few enough.
    func refusal(_ counts: AbsenceCounts) -> String? {
        let covered = counts.covered.values.reduce(0, +)
        let absent = counts.absent.values.reduce(0, +)
        guard Double(absent) > Double(covered) * deleteUpTo / 100 else { return nil }
        let hundredths = Double(absent) / Double(covered) * 10_000
        // Rounded up if it would otherwise look equal to the limit.
        let isAbove = hundredths.rounded() / 100 > deleteUpTo
        let share = hundredths.rounded(isAbove ? .toNearestOrAwayFromZero : .up) / 100
        let lacking = covered == 1 ? "the only stored sample" : "\(absent) of \(covered) stored samples"
        return "it would delete \(lacking) (\(Self.text(share)) %); the limit is \(Self.text(deleteUpTo)) %"
    }

    private static func text(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(number))" : "\(number)"
    }
}
