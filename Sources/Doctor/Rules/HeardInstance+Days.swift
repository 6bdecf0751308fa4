import Configuration
import Inspection
import Protocol

/// What an instance computes: days, their figures, and which of them are final.
extension HeardInstance {
    var failedDays: Finding? {
        guard let days = beat.handler?.failedDays, days > 0 else { return nil }
        let reported = seen.alerts.first { $0.from == name && $0.kind == Alert.Kind.failedDays.rawValue }
        return error(
            "couldn't compute \(days) day\(days == 1 ? "" : "s"); their figures stay as they were"
                + (reported.map { ". \($0.text)" } ?? ""),
            remedy: reported?.remedy ?? "the log's day.failed events give the reasons: 'healthbus logs \(name)'")
    }

    /// Figures that are missing from all summaries because their name is taken. A shipped plugin isn't to blame for
    /// what another one calls its figures.
    var figureCollisions: [Finding] {
        func isShipped(_ name: String) -> Bool { seen.stack.instance(name)?.isShipped != false }
        return (beat.consolidator?.collisions ?? []).map { reported in
            let remedy = "give it another name in the plugin"
            if let taken = reported.taken, isShipped(reported.handler), !isShipped(taken) {
                return Finding(
                    .error, taken,
                    "its figure '\(reported.figure)' keeps that of \(reported.handler) out of all summaries",
                    remedy: remedy)
            }
            return Finding(
                .error, reported.handler,
                "its figure '\(reported.figure)' isn't in any summary: "
                    + (reported.taken.map { "\($0) has one of that name" } ?? "summaries use that name"),
                remedy: remedy)
        }
    }

    var openDays: Finding? {
        guard let reported = beat.consolidator, reported.openDays > 0, !reported.missing.isEmpty else { return nil }
        let missing = reported.missing.joined(separator: ", ")
        return warning(
            "\(reported.openDays) past day\(reported.openDays == 1 ? "" : "s") can't turn final without \(missing)",
            remedy: "see to \(missing) first"
        ).because(of: reported.missing.count == 1 ? reported.missing : [])
    }
}
