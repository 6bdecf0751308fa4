import Configuration
import Inspection
import Protocol
import Terminal

/// What all instances together have taken in, set aside, and raised.
extension Diagnosis {
    private var observer: String { seen.stack.only(.observer)?.name ?? "observer" }

    var formerZones: [Finding] { seen.formerZones.map(\.finding) }

    var failedImports: [Finding] {
        // The reason may name a file, and what the doctor says is passed on to others.
        seen.failedImports.map { row in
            Finding(
                .note, observer, "import \(row.id) failed, and that person has had none since",
                remedy: "'healthbus imports list' shows the reason")
        }
    }

    var conflictingInput: Finding? {
        guard seen.conflicts > 0 else { return nil }
        return Finding(
            .note, observer,
            "has set aside \(HumanFormat.count(Int(seen.conflicts), "input")) whose content contradicts a stored sample",
            remedy: "'healthbus conflicts' lists them, and says what to do")
    }

    var quarantine: Finding? {
        let others = seen.quarantined - seen.conflicts
        guard others > 0 else { return nil }
        return Finding(
            .note, observer,
            "has quarantined \(HumanFormat.count(Int(others), "input")) that can't be true or can't be understood",
            remedy: "'healthbus quarantine list' shows the reasons")
    }

    var alerts: [Finding] {
        let backend = seen.stack.only(.backend)?.name
        let uploaders = seen.stack.instances.filter { $0.manifest.kind == .uploader }.map(\.name)
        let cantFollow = seen.beats.values.contains { $0.beat.ingest?.following?.problem != nil }
        // News isn't a finding. Failed days and dead letters are already reported with their number, and a stack that can't be followed is
        // already reported with the reason.
        let others = seen.alerts.filter {
            let details = seen.beats[$0.from]?.beat
            return switch $0.kind {
            case Alert.Kind.failedDays.rawValue: details?.handler?.failedDays ?? 0 == 0
            case Alert.Kind.deadLetters.rawValue: details?.uploader?.deadLetters ?? 0 == 0
            default: !isNews($0.kind) && !(cantFollow && $0.subject.hasPrefix("following "))
            }
        }
        return others.map { alert in
            let finding = Finding(.warning, alert.from, alert.text, remedy: alert.remedy)
            if uploaders.contains(alert.from), ["delivery", "acceptance"].contains(alert.subject) {
                return finding.because(of: [backend, alert.from])
            }
            // A sync fails if any consumer doesn't take part.
            let all = [backend] + uploaders + seen.stack.instances.map(\.name)
            return alert.subject == "rounds" ? finding.because(of: all) : finding
        }
    }

    private func isNews(_ kind: String) -> Bool { Alert.Kind(rawValue: kind)?.isNews == true }
}
