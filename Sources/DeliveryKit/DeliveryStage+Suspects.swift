import Changelog
import HealthModel
import Protocol
import StageKit

/// What happens to elements that a backend refuses one by one; `Suspicion` decides.
extension DeliveryStage {
    /// The number of a metric's elements that are held.
    func held(_ metric: DeliveryMetric) -> Int {
        deliveries.reduce(0) { sum, delivery in
            delivery.groups.reduce(sum) { $0 + ($1.metric == metric ? $1.batch.held.count : 0) }
        }
    }

    /// Metrics whose elements aren't sent at present, since the backend may be the cause.
    var waitingMetrics: Set<DeliveryMetric> {
        Set(
            suspicions.filter {
                $0.value.until != nil || held($0.key) + $0.value.deadLetterCount > settings.refusedInARow
            }.keys)
    }

    /// The reason why some elements are waiting, in words for people.
    var suspicionText: String? {
        let waiting = suspicions.filter { $0.value.attempt > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
        guard let (metric, suspicion) = waiting.first else { return nil }
        let status = suspicion.status.map { " (\($0))" } ?? ""
        // Only a backend has paths that are ours.
        let place = isBackend ? "at \(metric.path)" : "of \(metric.rawValue)"
        return "the \(word) refuses one element after another \(place)\(status): that looks like the \(word)'s fault, "
            + "so they will be tried again"
    }

    /// Handles an element that was refused when sent alone, without being named.
    func suspect(_ index: Int, _ sent: Delivery.Sent, _ reason: String, _ status: Int?, _ turn: Turn) throws {
        let group = deliveries[index].groups[sent.group]
        let key = group.key(of: sent.part.lowerBound)
        guard settings.refusedInARow > 0 else {
            try addDeadLetters(index, sent.group, [sent.part.lowerBound: reason], status, turn)
            deliveries[index].groups[sent.group].batch.settle()
            return try settleDone(turn)
        }
        deliveries[index].groups[sent.group].batch.hold()
        suspicions[group.metric, default: Suspicion()].hold(key, effect: sent.effect, reason, status: status)
    }

    /// Handles a request that was accepted, with at least one element: `good`.
    func accepted(by group: DeliveryGroup, _ sent: Delivery.Sent, _ good: Int, _ turn: Turn) throws {
        goodElements[group.metric] = group.only(good)
        guard let suspicion = suspicions[group.metric] else { return }
        // A request that was sent before the last refusal says nothing about the backend's state after it.
        guard sent.effect > suspicion.last else { return }
        guard held(group.metric) > 0 else {
            suspicions[group.metric] = nil
            return
        }
        try conclude(.element, group.metric, turn)
    }

    private func conclude(_ evidence: Suspicion.Evidence, _ metric: DeliveryMetric, _ turn: Turn) throws {
        guard var suspicion = suspicions[metric] else { return }
        let conclusion = suspicion.conclude(evidence, held: held(metric), limit: settings.refusedInARow)
        suspicions[metric] = suspicion
        guard conclusion == .believe else { return try wait(for: metric, hearsAgain: true, turn) }
        for (index, group) in places(metric) {
            let gone = deliveries[index].groups[group].batch.settleHeld()
            for place in gone.sorted() {
                let key = deliveries[index].groups[group].key(of: place)
                let refusal =
                    suspicions[metric]?.giveUp(key) ?? .init(reason: "it was refused", status: suspicion.status)
                try addDeadLetters(index, group, [place: refusal.reason], refusal.status, turn)
            }
            if evidence == .emptyRequest { suspicions[metric]?.addDeadLetters(gone.count) }
        }
        if suspicionText == nil { try turn.clear(.degraded, subject: "refusals") }
        try settleDone(turn)
    }

    /// Where a metric's elements are: by delivery, and by group.
    private func places(_ metric: DeliveryMetric) -> [(Int, Int)] {
        deliveries.indices.flatMap { index in
            deliveries[index].groups.indices.filter { deliveries[index].groups[$0].metric == metric }.map {
                (index, $0)
            }
        }
    }

    private func release(_ metric: DeliveryMetric) {
        for (index, group) in places(metric) { deliveries[index].groups[group].batch.release() }
    }

    private func wait(for metric: DeliveryMetric, hearsAgain: Bool, _ turn: Turn) throws {
        let seconds = blockage.wait(afterWaits: suspicions[metric]?.attempt ?? 0)
        for (index, group) in places(metric) { deliveries[index].groups[group].batch.forgetHearings() }
        suspicions[metric]?.wait(until: turn.monotonic + .seconds(seconds), hearsAgain: hearsAgain)
        turn.log(.uploadRetry, ["why": suspicionText ?? "", "seconds": seconds])
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

    /// Finds out whether the backend accepts anything, if elements are held and nothing else would reveal it.
    func moveSuspects(_ turn: Turn) throws -> MonotonicTime? {
        guard gate.isOpen, turn.monotonic >= blockage.until else { return nil }
        var next: MonotonicTime?
        for metric in suspicions.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            if suspicions[metric]?.wakes(at: turn.monotonic) == true {
                release(metric)
            }
            guard let suspicion = suspicions[metric] else { continue }
            let held = held(metric)
            if held == 0, suspicion.until == nil, suspicion.deadLetterCount == 0, suspicion.probe == nil {
                if !hasMore(metric) { suspicions[metric] = nil }
                continue
            }
            if let until = suspicion.until {
                next = min(next ?? until, until)
                continue
            }
            guard held > 0, suspicion.probe == nil, !isSending(metric),
                held + suspicion.deadLetterCount > settings.refusedInARow || !hasMore(metric)
            else { continue }
            probe(metric, turn)
        }
        return next
    }

    private func isSending(_ metric: DeliveryMetric) -> Bool {
        deliveries.contains { delivery in delivery.sent.map { delivery.groups[$0.group].metric } == metric }
    }

    private func hasMore(_ metric: DeliveryMetric) -> Bool {
        deliveries.contains { $0.groups.contains { $0.metric == metric && $0.batch.next != nil } }
    }

    /// Sends an element that the backend already has, since repeating it changes nothing. If no such element is known,
    /// sends a request without elements.
    private func probe(_ metric: DeliveryMetric, _ turn: Turn) {
        let good = goodElements[metric]
        guard let group = good ?? anyHeld(metric) else { return }
        let elements = good == nil ? 0 : 1
        let effect = perform(group, 0..<elements, turn)
        suspicions[metric]?.probe = .init(effect: effect, elements: elements)
    }

    private func anyHeld(_ metric: DeliveryMetric) -> DeliveryGroup? {
        let groups = places(metric).map { deliveries[$0.0].groups[$0.1] }
        return groups.first { !$0.batch.held.isEmpty }
    }

    /// Handles the answer to a probe.
    func settle(probeOf metric: DeliveryMetric, _ reply: DeliveryReply, _ turn: Turn) throws {
        guard let probe = suspicions[metric]?.probe else { return }
        suspicions[metric]?.probe = nil
        switch reply {
        case .proven(let answer), .onTrust(let answer):
            guard try meet(generation: answer.generation, answer, turn) else { return }
            if answer.refused.isEmpty {
                blockage.goesOn()
                try conclude(probe.elements > 0 ? .element : .emptyRequest, metric, turn)
            } else {
                goodElements[metric] = nil
            }
        // The probe wasn't sent, so the next one will be different.
        case .overtaken: goodElements[metric] = nil
        case .otherBackend(let generation, let answer): _ = try meet(generation: generation, answer, turn)
        case .rolledBack(let sequence): try rolledBack(to: sequence, turn)
        case .unproven(let why): try doubt(why, turn)
        case .refusals, .unreadableRefusals: try wait(for: metric, hearsAgain: false, turn)
        case .wrongForm(let why), .needsPerson(let why): retry(why, turn)
        case .failed(let failure):
            if case .refused = failure.outcome {
                if let status = failure.status { suspicions[metric]?.refuses(status) }
                try wait(for: metric, hearsAgain: false, turn)
            } else {
                wait(blockage.action(after: failure.outcome, now: turn.now), failure.why, turn)
            }
        }
    }
}

extension DeliveryGroup {
    /// A text that no other element of the metric has.
    fileprivate func key(of place: Int) -> String {
        let (id, version) = element(place)
        return "\(user) \(id) \(version)"
    }
}
