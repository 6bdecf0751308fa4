import BackgroundDelivery
import Configuration
import HealthModel
import Inspection
import Protocol
import Terminal

/// Whether what an instance delivers arrives, and stays where it was delivered.
extension HeardInstance {
    /// What is delivered is compared, element by element, daily.
    private static let proofPatience = Duration.seconds(3 * 86_400)

    /// Obstacles to writing files are reported separately; this only checks whether existing files are unchanged.
    var changedFiles: Finding? {
        guard let reported = uploader?.backend, destination.keeps == .files, reported.result == .redelivered else {
            return nil
        }
        let files = HumanFormat.count(Int(reported.missing ?? 0), "file")
        return warning(
            "\(files) \(reported.missing == 1 ? "was" : "were") changed or removed by others; being written again",
            remedy: "nothing; but edit copies elsewhere: changes made here are lost")
    }

    var unchecked: Finding? {
        guard let why = comparison?.why, uploader?.paused == false else { return nil }
        return warning(
            "can't check whether the \(destination.word) still holds what it accepted: \(why)",
            remedy: "see to that first; this is tried again automatically"
        ).because(of: [backend, name])
    }

    var lostElements: Finding? {
        guard let comparison, comparison.result == .redelivered else { return nil }
        let missing =
            comparison.missing.map { "at least \(HumanFormat.count(Int($0), "element"))" } ?? "some or all"
        return warning(
            "the \(destination.word) had lost \(missing) of what it accepted; everything is sent again",
            remedy: "wait until 'healthbus sync' says everything is delivered; then check its "
                + (destination.kind == .backend ? "folder" : "backups"))
    }

    var trusted: Finding? {
        guard comparison?.acceptance == .trust else { return nil }
        let word = destination.word
        return note(
            "trusts the \(word) to keep what it accepts: the \(word) doesn't say who it is",
            remedy: destination.kind == .backend
                ? "nothing; 'Acceptance' in docs/delivery.md says how a backend can prove it" : "nothing"
        ).standing()
    }

    var paused: Finding? {
        guard uploader?.paused == true else { return nil }
        return error(
            "delivers nothing: \(beat.stage.blocked ?? "it is paused")",
            remedy: "fix that; it retries every 30 s, and nothing is lost"
        ).asCause(because: [backend])
    }

    var noPath: Finding? {
        // A destination on this machine needs no path, and isn't blocked without one.
        guard let uploader, !uploader.paused, uploader.path?.isSatisfied == false, beat.stage.blocked != nil
        else { return nil }
        return note("has no network path", remedy: "nothing: it continues as soon as there is one")
            .listed(as: .offline)
    }

    var deadLetters: Finding? {
        guard let letters = uploader?.deadLetters, letters > 0 else { return nil }
        return warning(
            "the \(destination.word) refused \(letters) element\(letters == 1 ? "" : "s") for good",
            remedy: "'healthbus dead-letters list' says why; 'healthbus dead-letters retry --all' sends them again"
        ).listed(as: .deadLetters)
    }

    var conflictingElements: Finding? {
        guard let conflicts = uploader?.conflicts, conflicts > 0 else { return nil }
        return warning(
            "the \(destination.word) has \(conflicts) element\(conflicts == 1 ? "" : "s") in the version sent to it, but with other content",
            remedy: "'healthbus conflicts' lists them, and says what to do")
    }

    /// What is known of a destination that doesn't keep files.
    private var comparison: UploaderDetails.Backend? { destination.keeps == .files ? nil : uploader?.backend }

    var unprovable: Finding? {
        guard let why = uploader?.proof?.unable else { return nil }
        return note(
            "can't compare what the \(destination.word) keeps with what was delivered: \(why)",
            remedy: "nothing; what was delivered is counted, but not proven"
        ).standing()
    }

    var elementsBeyond: Finding? {
        guard let proof, let beyond = proof.beyond, beyond > proof.compared else { return nil }
        return warning(
            "the \(destination.word) keeps \(HumanFormat.count(Int(beyond), "element")) that this stack doesn't have",
            remedy: "if a store was lost here, import the newest export again; nothing is deleted there")
    }

    var replacedElements: Finding? {
        guard let replaced = proof?.replaced else { return nil }
        return note(
            "replaced \(HumanFormat.count(Int(replaced), "element")) at the \(destination.word) by those held here, since a store was made again or restored",
            remedy: "nothing; but if none was, another stack delivers there for the same person: stop one of the two")
    }

    var oldProof: Finding? {
        guard let proof, seen.now - proof.at > Self.proofPatience else { return nil }
        let (uploader, days) = (name, HumanFormat.count(Int((seen.now - proof.at).seconds / 86_400), "day"))
        return warning(
            "last compared what the \(destination.word) keeps with what was delivered \(days) ago",
            remedy: "'healthbus verify --destination \(uploader)' compares now, or says what is in the way")
    }

    private var proof: ProofSummary? { uploader?.proof.flatMap { $0.unable == nil ? $0 : nil } }
}

extension Diagnosis {
    /// When the destinations were compared, for the line that says that all is well: since the one whose turn was longest
    /// ago. Empty if none was.
    package static func comparison(_ beats: Beats, now: Instant) -> String {
        let proven = beats.values.compactMap(\.beat.uploader?.proof).filter { $0.unable == nil }
        guard let oldest = proven.min(by: { $0.at < $1.at }) else { return "" }
        let age = HumanFormat.duration(max(.zero, now - oldest.at))
        return "; what was delivered was compared with what is kept \(age) ago"
    }
}
