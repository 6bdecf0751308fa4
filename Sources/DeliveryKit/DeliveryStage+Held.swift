import HealthModel
import Protocol
import StageKit

/// What happens to elements that a destination refuses one by one; `HeldElements` decides.
extension DeliveryStage {
    /// The reason why some elements are waiting, in words for people.
    var heldText: String? {
        held.refused.map { metric, status in
            // Only a backend has paths that are ours.
            let place = isBackend ? "at \(metric.path)" : "of \(metric.rawValue)"
            return
                "the \(word) refuses one element after another \(place)\(status.map { " (\($0))" } ?? ""): that looks "
                + "like the \(word)'s fault, so they will be tried again"
        }
    }

    /// Handles an element that was refused when sent alone, without being named.
    func hold(_ sent: Deliveries.Answered, _ reason: String, _ status: Int?, _ turn: Turn) throws {
        guard !held.hold(sent, in: &deliveries, reason, status: status) else { return }
        try addDeadLetters(sent.place, [sent.part.lowerBound: reason], status, turn)
        deliveries[sent.place].batch.settle()
        try settleDone(turn)
    }

    func conclude(_ evidence: HeldMetric.Evidence, _ metric: DeliveryMetric, _ turn: Turn) throws {
        guard let givenUp = held.conclude(evidence, metric, &deliveries) else {
            return try wait(for: metric, hearsAgain: true, turn)
        }
        for gone in givenUp {
            try addDeadLetters(gone.place, [gone.element: gone.refusal.reason], gone.refusal.status, turn)
        }
        if heldText == nil { try turn.clear(.degraded, subject: "refusals") }
        try settleDone(turn)
    }

    private func wait(for metric: DeliveryMetric, hearsAgain: Bool, _ turn: Turn) throws {
        let seconds = blockage.wait(afterWaits: held[metric]?.attempt ?? 0)
        held.wait(for: metric, until: turn.monotonic + .seconds(seconds), hearsAgain: hearsAgain, &deliveries)
        turn.log(.uploadRetry, ["why": heldText ?? "", "seconds": seconds])
        try turn.raise(
            Alert(
                .degraded, subject: "refusals",
                text:
                    "The \(word) refuses one element after another; that looks like its own fault. Nothing is given up.",
                remedy: "Check the \(word)."
                    + (settings.isTrustChosen
                        ? " If it is right to refuse them, set '\(DeliverySettings.trust)' of '\(instance)' to 0: they "
                            + "then become dead letters." : "")
            ))
    }

    // MARK: Probes

    func moveHeld(_ turn: Turn) -> MonotonicTime? {
        guard gate.isOpen, turn.monotonic >= blockage.until else { return nil }
        let (probes, next) = held.move(&deliveries, at: turn.monotonic)
        for probe in probes { held.sent(probe, effect: perform(probe.group, 0..<probe.elements, turn)) }
        return next
    }

    /// Handles the answer to a probe.
    func settle(probeOf metric: DeliveryMetric, _ evidence: HeldMetric.Evidence, _ reply: DeliveryReply, _ turn: Turn)
        throws
    {
        switch reply {
        case .proven(let answer), .onTrust(let answer):
            guard try meet(generation: answer.generation, answer, turn) else { return }
            guard answer.refused.isEmpty else { return held.forgetGood(metric) }
            blockage.goesOn()
            try conclude(evidence, metric, turn)
        case .overtaken: held.forgetGood(metric)
        case .otherBackend(let generation, let answer): _ = try meet(generation: generation, answer, turn)
        case .rolledBack(let sequence): try rolledBack(to: sequence, turn)
        case .unproven(let why): try doubt(why, turn)
        case .refusals, .unreadableRefusals: try wait(for: metric, hearsAgain: false, turn)
        case .wrongForm(let why), .needsPerson(let why): retry(why, turn)
        case .failed(let failure):
            guard case .refused = failure.outcome else {
                return wait(blockage.action(after: failure.outcome, now: turn.now), failure.why, turn)
            }
            held.refuses(metric, failure.status)
            try wait(for: metric, hearsAgain: false, turn)
        }
    }
}
