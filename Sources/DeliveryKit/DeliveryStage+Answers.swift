import HealthModel
import Protocol
import StageKit

extension DeliveryStage {
    /// Acts on an answer: continues, waits, splits the request, or makes an element a dead letter.
    func settle(_ sent: Deliveries.Answered, _ reply: DeliveryReply, _ turn: Turn) throws {
        switch reply {
        case .wrongForm(let why):
            // The backend, or a proxy in front of it, can't read columns. The same elements are sent as JSON, and the
            // answer to that request counts. This lasts until the backend announces again what it accepts.
            met.takesColumns = false
            turn.log(.uploadRetry, ["why": why, "seconds": 0])
        case .proven(let answer): try prove(sent, answer, turn)
        case .onTrust(let answer):
            if try meet(generation: nil, answer, turn) { try delivered(sent, answer, turn) }
        case .overtaken(let answer):
            let group = deliveries[sent.place]
            try ledger.takeOutDeadLetters(
                sent.part.lazy.map { group.element($0) }, metric: group.metric, user: group.user, turn)
            try ledger.delivered(sent.part.count, metric: group.metric, answer.counts, turn)
            deliveries[sent.place].batch.settle()
            try settleDone(turn)
        case .otherBackend(let generation, let answer): _ = try meet(generation: generation, answer, turn)
        case .rolledBack(let sequence): try rolledBack(to: sequence, turn)
        case .refusals(let answer, let otherwise): try believe(sent, answer, otherwise, turn)
        case .unreadableRefusals(let why):
            try turn.raise(
                Alert(
                    .degraded, subject: "refusals",
                    text: "The \(word)'s list of refused elements can't be understood.",
                    remedy: "Nothing is lost in the meantime.\(trial)"))
            retry(why, turn)
        case .unproven(let why): try doubt(why, turn)
        case .failed(let failure): try act(on: failure, sent, turn)
        case .needsPerson(let why): note(blockage.pause(why, at: turn.monotonic), turn)
        }
    }

    /// Acts on an answer that says nothing about individual elements, or on a missing answer.
    private func act(on failure: DeliveryReply.Failure, _ sent: Deliveries.Answered, _ turn: Turn) throws {
        deliveries[sent.place.delivery].mayBeKnown = true
        let action = blockage.action(after: failure.outcome, elements: sent.part.count, now: turn.now)
        switch action {
        case .split:
            blockage.isAnswered(at: turn.monotonic)
            deliveries[sent.place].batch.split()
        case .deadLetter(let reason):
            blockage.isAnswered(at: turn.monotonic)
            try hold(sent, reason, failure.status, turn)
        case .isolate:
            deliveries[sent.place].batch.isolate()
            wait(action, failure.why, turn)
        case .done, .refreshToken, .retry, .pause: wait(action, failure.why, turn)
        }
    }

    /// Waits as the policy says.
    func wait(_ action: RetryPolicy.Action, _ why: String, _ turn: Turn) {
        note(blockage.take(action, why, at: turn.monotonic, turn.now), turn)
    }

    private func note(_ step: Blockage.Step, _ turn: Turn) {
        switch step {
        case .wait(let seconds, let why): turn.log(.uploadRetry, ["why": why, "seconds": seconds])
        case .pause(let why): turn.log(.uploadPaused, ["why": why])
        case .goOn: break
        }
    }

    /// Sends the same request again later; nothing counts as accepted or refused until then.
    func retry(_ why: String, _ turn: Turn) {
        wait(blockage.action(after: .unproven, now: turn.now), why, turn)
    }

    /// How people can find out what their own server answers; empty for one with another contract.
    private var trial: String {
        isBackend ? " 'healthbus backend test' tests your own server, case by case." : ""
    }

    /// Handles an answer that may come from any server.
    func doubt(_ why: String, _ turn: Turn) throws {
        if blockage.doubts() {
            try turn.raise(
                Alert(
                    .degraded, subject: "acceptance",
                    text:
                        "Whatever answers at the \(word)'s address doesn't prove that it accepts anything, so nothing counts as delivered.",
                    remedy:
                        "Look at 'healthbus status': is there a login page on the network, or another server at this address?"
                        + trial))
        }
        retry(why, turn)
    }

    /// The known backend, or one that identifies itself now, accounts for everything sent.
    private func prove(_ sent: Deliveries.Answered, _ answer: DeliveryAnswer, _ turn: Turn) throws {
        guard try meet(generation: answer.generation, answer, turn) else { return }
        let (reasons, _) = deliveries[sent.place].refused(answer.refused, in: sent.part)
        // The backend has refused one of these elements without saying which: the smaller the part, the fewer the
        // candidates.
        guard reasons.count == answer.refused.count || sent.part.count == 1 else {
            deliveries[sent.place].batch.split()
            return
        }
        try delivered(sent, answer, turn)
    }

    /// Handles refusals in an answer that proves nothing else: the named elements become dead letters, and the rest are
    /// sent again.
    private func believe(
        _ sent: Deliveries.Answered, _ answer: DeliveryAnswer, _ otherwise: DeliveryReply.Failure, _ turn: Turn
    ) throws {
        let group = deliveries[sent.place]
        let (reasons, unknown) = group.refused(answer.refused, in: sent.part)
        try alert(ofUnknown: unknown, turn)
        try addDeadLetters(sent.place, reasons, answer.status, turn)
        deliveries[sent.place].batch.remove(reasons.keys)
        guard reasons.isEmpty else {
            blockage.isAnswered(at: turn.monotonic)
            return try settleDone(turn)
        }
        // The answer named none of the elements sent: only the rest of the answer counts, if it says anything.
        if otherwise.outcome == .unproven { return try doubt(otherwise.why, turn) }
        try act(on: otherwise, sent, turn)
    }

    func addDeadLetters(
        _ place: Deliveries.Place, _ reasons: [Int: String], _ status: Int?, _ turn: Turn
    ) throws {
        let group = deliveries[place]
        if deliveries[place.delivery].isAgain { replay.refused += Int64(reasons.count) }
        for (place, reason) in reasons.sorted(by: { $0.key < $1.key }) {
            let element = group.element(place)
            try ledger.addDeadLetters(
                id: element.id, version: element.version, metric: group.metric, user: group.user, reason: reason,
                status: status, turn)
        }
    }

    private func alert(ofUnknown count: Int, _ turn: Turn) throws {
        guard count > 0 else { return }
        turn.log(.refusalUnknown, ["count": count])
        try turn.raise(
            Alert(
                .degraded, subject: "refusals",
                text: "The \(word) refuses elements that were never sent to it; that is ignored.",
                remedy: "Correct the \(word): its 'refused' must use the ids the elements came with.\(trial)"
            ))
    }

    private func delivered(_ sent: Deliveries.Answered, _ answer: DeliveryAnswer, _ turn: Turn) throws {
        blockage.goesOn()
        if answer.requestsSync { met.syncRequested = turn.now }
        // Another path may still be blocked, but something has reached the destination.
        standstill.end()
        check.delivered()
        let group = deliveries[sent.place]
        var (reasons, unknown) = group.refused(answer.refused, in: sent.part)
        if unknown > 0, sent.part.count == 1, answer.counts?.refused == 1 {
            // The refusal can only concern this one element.
            reasons[sent.part.lowerBound] = answer.refused.first?.reason ?? ""
            unknown = 0
        }
        for subject in ["delivery", "acceptance"] { try turn.clear(.degraded, subject: subject) }
        try alert(ofUnknown: unknown, turn)
        try ledger.takeOutDeadLetters(
            sent.part.lazy.filter { reasons[$0] == nil }.map { group.element($0) }, metric: group.metric,
            user: group.user, turn)
        try note(conflicts: group.conflicting(answer.conflicts, in: sent.part), besides: reasons, group, sent, turn)
        try addDeadLetters(sent.place, reasons, answer.status, turn)
        try ledger.delivered(sent.part.count - reasons.count, metric: group.metric, answer.counts, turn)
        proof.noteDelivered(sent.part.count)
        try wonder(about: answer, deliveries[sent.place.delivery], user: group.user, turn)
        // Elements that are delivered again were first delivered long ago, so they aren't counted as delayed.
        if !deliveries[sent.place.delivery].isAgain {
            let recent = group.ends(sent.part, since: turn.now - DelayHistogram.horizon)
            try ledger.delayed(recent, metric: group.metric, turn)
        }
        deliveries[sent.place].batch.settle()
        let evidence = sent.part.first { reasons[$0] == nil && !answer.overtaken.contains($0) }
        if let evidence, held.accepted(evidence, of: group, effect: sent.effect, deliveries) {
            try conclude(.element, group.metric, turn)
        }
        if answer.refused.isEmpty, heldText == nil { try turn.clear(.degraded, subject: "refusals") }
        try settleDone(turn)
    }

    /// Notes what was delivered for the first time. If the destination knew something already that was never sent, it
    /// holds versions from elsewhere: a comparison shows what they are.
    private func wonder(
        about answer: DeliveryAnswer, _ delivery: Delivery, user: String, _ turn: Turn
    ) throws {
        guard !delivery.isAgain, let upstream = upstreams.first(where: { $0.name == delivery.upstream }) else { return }
        try noteLine(of: upstream, user: user, turn)
        guard settings.keepsVersions, answer.counts?.known ?? 0 > 0 else { return }
        if unsettled.contains(where: { $0 === upstream }) {
            try ledger.noteProof(turn) { $0.known.insert(upstream.producer) }
        } else if !delivery.mayBeKnown {
            try ledger.noteProof(turn) { $0.isDoubted = true }
        }
    }

    /// Updates the conflicts: elements that the backend has as they were sent, or in a newer version, are no longer
    /// conflicts.
    private func note(
        conflicts: Set<Int>, besides refused: [Int: String], _ group: DeliveryGroup, _ sent: Deliveries.Answered,
        _ turn: Turn
    ) throws {
        try ledger.takeOutConflicts(
            sent.part.lazy.filter { refused[$0] == nil && !conflicts.contains($0) }.map { group.element($0) },
            metric: group.metric, user: group.user, turn)
        try ledger.addConflicts(
            conflicts.sorted().map { group.element($0) }, metric: group.metric, user: group.user, turn)
    }

    /// Tries at once to deliver whatever is waiting.
    func tryNow() {
        blockage.tryNow()
        held.tryNow()
    }
}
