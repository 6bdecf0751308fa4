import HealthModel
import Inspection
import Protocol
import Terminal

/// What an import reports about its file in addition to the record counts: what was skipped, and what else the archive
/// contained.
struct ImportedFiles {
    private let source: ImportReport.Source

    init(_ source: ImportReport.Source) { self.source = source }

    /// Each line begins with a line break; the text is empty when there is nothing to report.
    var text: String {
        var text = ""
        if let empty = source.activitySummariesWithoutDay, empty > 0 {
            let rings = HumanFormat.count(empty, "ring summary", "ring summaries")
            text += "\n  passed over: \(rings) without a day, which a phone writes by mistake"
        }
        if let values = source.workoutValuesLeftOut, values > 0 {
            let numbers = HumanFormat.count(values, "number of workouts", "numbers of workouts")
            text += "\n  left out: \(numbers) that can't be true"
        }
        if source.impossibleDateOfBirth == true {
            text += "\n  passed over: a date of birth that is in the future, or before 1900"
        }
        for taken in source.statistics ?? [] { text += "\n  \(taken.text)" }
        if !others.isEmpty { text += "\n  also: \(others.joined(separator: ", "))" }
        for name in source.otherExports ?? [] {
            text += "\n  not read: \(name), another export in the archive; unpack it and import it separately"
        }
        return text
    }

    /// "3 ECGs, 12 clinical records, 1 document not read (export_cda.xml repeats the samples)".
    private var others: [String] {
        var parts: [String] = []
        if let count = source.electrocardiograms, count > 0 { parts.append(HumanFormat.count(count, "ECG")) }
        if let count = source.clinicalRecords, count > 0 { parts.append(HumanFormat.count(count, "clinical record")) }
        if let count = source.attachments, count > 0 { parts.append(HumanFormat.count(count, "attachment")) }
        for unread in source.unread ?? [] {
            let folder = unread.folder.isEmpty ? "the archive's top folder" : unread.folder
            switch unread.kind {
            case .clinicalDocument:
                parts.append(
                    HumanFormat.count(unread.count, "document") + " not read (export_cda.xml repeats the samples)")
            case .link: parts.append(HumanFormat.count(unread.count, "link") + " not read (in \(folder))")
            case .other:
                parts.append(
                    HumanFormat.count(unread.count, "file") + " not read (in \(folder); --json names "
                        + (unread.count == 1 ? "it)" : "them)"))
            // Anything that is wrong is reported as damage; exports are named below.
            case .damaged, .export: break
            }
        }
        return parts
    }
}
