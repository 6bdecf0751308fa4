import HealthModel
import HealthStore
import Protocol

/// What was asked of an import beyond taking its file in, and how far that has come: kept with the import, so that a crash forgets nothing.
struct ImportPlan: Equatable {
    /// The export is the whole truth for the types and the time it covers: what it lacks is deleted.
    var isComplete = false
    /// Reads everything, changes nothing.
    var isTrial = false
    /// It is taken in though made-up data and a person's come together.
    var mixesMadeUp = false
    /// Of the samples that it covers, so many percent may be deleted.
    var deleteUpTo = Self.usualLimit
    /// The store's sequence when the first attempt began: what was born later isn't judged.
    var begun: SequenceNumber?
    /// When the phone wrote the export.
    var exportedAt: Instant?
    /// A complete import has been tried out as a whole, and nothing speaks against it: what it reads from then on is taken in.
    var isRehearsed = false
    /// The share to be deleted was found small enough; from then on it is being deleted.
    var isApproved = false
    /// What has been deleted, by type; of a trial what would be.
    var deleted: [String: Int64] = [:]
    /// Why nothing was deleted.
    var refused: String?

    static let usualLimit = 5.0

    /// What a command asks for; nil for a plain import.
    init?(_ command: ImportFile) {
        isComplete = command.complete == true
        isTrial = command.dryRun == true
        mixesMadeUp = command.mixMadeUp == true
        guard isComplete || isTrial || mixesMadeUp else { return nil }
        if let limit = command.deleteUpTo, (0...100).contains(limit) { deleteUpTo = limit }
    }

    /// As the observer's file has it.
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

    /// Whether the file is read without anything being written. A complete import is tried out first, so that nothing of a refused one stays.
    var isTryingOut: Bool { isTrial || (isComplete && !isRehearsed) }

    mutating func add(_ counts: [String: Int]) {
        for (type, count) in counts { deleted[type, default: 0] += Int64(count) }
    }

    /// Why an export can't be taken for the whole truth, before it is held against the store; nil when it can.
    /// - Parameter newest: the date of the newest complete export that was taken in.
    func refusal(damaged: String?, notUnderstood: Int64, newest: Instant?) -> String? {
        if let damaged { return "the file is damaged: \(damaged)" }
        if notUnderstood > 0 {
            return "\(notUnderstood) of its inputs couldn't be understood, and may be what would be deleted"
        }
        guard let exportedAt else { return "it has no ExportDate" }
        if let newest, exportedAt < newest {
            return "it is of \(InstantText.iso8601(exportedAt)), and a complete export of "
                + "\(InstantText.iso8601(newest)) was taken in already"
        }
        return nil
    }

    /// Why so much isn't deleted; nil when it is little enough.
    func refusal(_ counts: AbsenceCounts) -> String? {
        let covered = counts.covered.values.reduce(0, +)
        let absent = counts.absent.values.reduce(0, +)
        guard Double(absent) > Double(covered) * deleteUpTo / 100 else { return nil }
        let share = (Double(absent) / Double(covered) * 1000).rounded(.up) / 10
        let lacking = covered == 1 ? "the only sample" : "\(absent) of the \(covered) samples"
        return "it lacks \(lacking) that it covers (\(Self.text(share)) %), "
            + "more than \(Self.text(deleteUpTo)) %"
    }

    private static func text(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(number))" : "\(number)"
    }
}
