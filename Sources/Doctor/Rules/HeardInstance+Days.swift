import Configuration
import Inspection
import Protocol

/// What an instance computes: days, their figures, and which of them are final.
extension HeardInstance {
    var failedDays: Finding? {
        guard let days = beat.handler?.failedDays, days > 0 else { return nil }
        let told = seen.alerts.first { $0.from == name && $0.kind == Alert.Kind.failedDays.rawValue }
        return error(
            "couldn't compute \(days) day\(days == 1 ? "" : "s"); their figures stay as they were"
                + (told.map { ". \($0.text)" } ?? ""),
            remedy: told?.remedy ?? "the log's day.failed events give the reasons: 'healthbus logs \(name)'")
    }

    /// Figures that are missing from all summaries because their name is taken. A shipped plugin isn't to blame for
    /// what another one calls its figures.
    var figureCollisions: [Finding] {
        func isShipped(_ name: String) -> Bool { seen.stack.instance(name)?.isShipped != false }
        return (beat.consolidator?.collisions ?? []).map { told in
            let remedy = "give it another name in the plugin"
            if let taken = told.taken, isShipped(told.handler), !isShipped(taken) {
                return Finding(
                    .error, taken, "its figure '\(told.figure)' keeps that of \(told.handler) out of all summaries",
                    remedy: remedy)
            }
            return Finding(
                .error, told.handler,
                "its figure '\(told.figure)' isn't in any summary: "
                    + (told.taken.map { "\($0) has one of that name" } ?? "summaries use that name"),
                remedy: remedy)
        }
    }

    var openDays: Finding? {
        guard let told = beat.consolidator, told.openDays > 0, !told.missing.isEmpty else { return nil }
        let missing = told.missing.joined(separator: ", ")
        return warning(
            "\(told.openDays) past day\(told.openDays == 1 ? "" : "s") can't turn final without \(missing)",
            remedy: "see to \(missing) first"
        ).because(of: told.missing.count == 1 ? told.missing : [])
    }
}
