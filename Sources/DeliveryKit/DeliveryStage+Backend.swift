import HealthModel
import Protocol
import StageKit

/// Establishes which backend answers, and whether it still holds what it accepted.
extension DeliveryStage {
    /// The verdict on the sender of an answer.
    enum Meeting: Equatable {
        /// It is the backend that deliveries go to: its answer counts.
        case known
        /// A different backend from now on: everything is delivered to it again.
        case startedOver
        /// It isn't known which of the servers is the backend; the text gives the reason.
        case unclear(String)
    }

    var isBound: Bool { met.isBound(to: ledger.backend) }

    /// Records which backend has answered for everything sent; returns false when its answer doesn't count.
    func meet(generation: String?, _ answer: DeliveryAnswer, _ turn: Turn) throws -> Bool {
        switch try meet(generation, sequence: answer.sequence, created: answer.counts?.created ?? 0, turn) {
        case .known: return true
        case .startedOver: return false
        case .unclear(let why):
            try doubt(why, turn)
            return false
        }
    }

    private func meet(_ generation: String?, sequence: Int64?, created: Int64, _ turn: Turn) throws -> Meeting {
        let sender = met.meet(generation, ledger.backend, at: turn.monotonic, turn.now)
        switch sender {
        case .unnamed: return .unclear("something answered without the \(word)'s generation")
        case .unclear(let what): return try .unclear(unsteady(what, turn))
        case .other:
            turn.log(.backendChanged)
            try ledger.note(turn) { $0.follow(generation, sequence: sequence) }
            try lost(nil, turn)
            return .startedOver
        case .known, .first:
            if sender == .known(isWellAgain: true) { try turn.clear(.degraded, subject: "alternating") }
            try ledger.note(turn) {
                if sender == .first { $0.follow(generation, sequence: sequence) }
                $0.answered(sequence: sequence, created: created)
                $0.address = settings.address
            }
            // Anything accepted by another server, or by one that didn't identify itself, may be missing from this one.
            guard sender == .first, ledger.hasDelivered else { return .known }
            turn.log(.backendChanged)
            try redeliverEverything(turn)
            return .startedOver
        }
    }

    private func text(_ what: MetBackend.Unsteadiness) -> String {
        switch what {
        case .inTurn: "two \(word)s answer in turn"
        case .startedOver: "the \(word) has once more started over" + (isBackend ? " with another database" : "")
        case .lacks: "the \(word) once more lacks some of what it accepted"
        }
    }

    /// Raises the alert, and returns the reason why delivery can't continue, in words for people.
    private func unsteady(_ what: MetBackend.Unsteadiness, _ turn: Turn) throws -> String {
        try turn.raise(
            Alert(
                .degraded, subject: "alternating",
                text: isBackend
                    ? "Backends with different databases answer at this address, or one keeps losing what it accepted."
                    : "Different \(word)s answer at this address, or one keeps losing what it accepted.",
                remedy: isBackend
                    ? "Make sure that only one backend answers at the '\(addressOption)' of "
                        + "'\(instance)', and that it keeps its folder."
                    : "Make sure that only one \(word) answers there, and that it keeps its data."
            ))
        guard what != .inTurn else { return text(what) }
        let redeliveries = ledger.backend.redeliveries
        return text(what)
            + "; everything was delivered to it again \(redeliveries.count) times lately, and will be "
            + "again from \(InstantText.local(redeliveries.next, now: turn.now)) on"
    }

    private func mayRedeliver(_ turn: Turn) -> Bool {
        met.mayRedeliver(to: ledger.backend, at: turn.monotonic, turn.now)
    }

    /// The known generation has forgotten requests.
    func rolledBack(to sequence: Int64, _ turn: Turn) throws {
        guard mayRedeliver(turn) else { return try doubt(unsteady(.lacks, turn), turn) }
        turn.log(.backendLacks, ["missing": "some"])
        try ledger.note(turn) {
            $0.sequence = sequence
            $0.created = 0
        }
        try lost(nil, turn)
    }

    /// The backend lacks elements that it accepted, so everything is delivered to it again, and an alert is raised.
    private func lost(_ missing: Int64?, _ turn: Turn) throws {
        try turn.raise(
            Alert(
                .degraded, subject: "backend",
                text: "The \(word) has lost some or all of what it had accepted; everything is delivered to it again.",
                remedy: "If this was intended, do nothing; otherwise check the \(word)'s "
                    + (isBackend ? "folder and its backups." : "backups.")))
        try ledger.note(turn) {
            $0.redeliveries.begin(at: turn.now)
            $0.result = .redelivered
            $0.compared = turn.now
            $0.missing = missing
        }
        try redeliverEverything(turn)
    }

    /// Versions make redelivery harmless: elements that the backend already has don't change.
    private func redeliverEverything(_ turn: Turn) throws {
        blockage.goesOn()
        met.isRedeliveryAsked = false
        deliveries.restart()
        held.restart()
        proof.drop()
        // The elements that it lacked may not be all that it lacks.
        try ledger.noteProof(turn) {
            $0.isDoubted = true
            $0.rounds = max(1, $0.rounds)
        }
        replay.restart()
        try ledger.beginsAgain(turn)
        for upstream in upstreams { try upstream.rewind(turn) }
        check.cancel()
        check.followsRedelivery = true
    }

    /// A destination that never identified itself is known only by its address: a new one lacks everything that the
    /// former one accepted, and nothing that it answers will show that. (One that identifies itself shows it in its
    /// first answer, and may be the same one under another address.)
    func openAddress(_ turn: Turn) throws {
        let known = ledger.backend
        guard known.generation == nil, known.address != settings.address else { return }
        // Files from earlier releases contain no address, unless they are about a server that identified itself.
        guard known.address != nil else { return try ledger.note(turn) { $0.address = settings.address } }
        try ledger.note(turn) {
            $0 = KnownBackend()
            $0.address = settings.address
        }
        try ledger.forgetDelivered(turn)
        turn.log(.backendMoved)
        try redeliverEverything(turn)
    }

    // MARK: Comparing

    func openBackend(_ turn: Turn) throws {
        met.open(at: turn.monotonic, isFaulty: try turn.isRaised(.degraded, subject: "alternating"))
        // A redelivery goes on after a restart. Until it is over, the backend is only known to have what it had when
        // the redelivery began.
        check.followsRedelivery = ledger.backend.result == .redelivered
    }

    /// Compares now; with `send`, also tries at once to deliver whatever is waiting, even everything once more to a
    /// backend that keeps losing it.
    func hear(command: Value) {
        guard let asked = CompareBackend(command), asked.id.utf8.count <= 100 else { return }
        if asked.send == true, asked.id != check.answered {
            tryNow()
            met.isRedeliveryAsked = true
        }
        if asked.id != check.answered { proof.retryAt = .distantPast }
        proof.isHurried = true
        check.want(asked.id)
    }

    func moveCheck(_ turn: Turn) throws -> MonotonicTime? {
        guard gate.isOpen else {
            check.hasNoPath(Blockage.noPath)
            return nil
        }
        // There is nothing more to ask of a server that doesn't say what it holds.
        if ledger.backend.result != .trust || isBound, deliveries.isEmpty, upstreams.allSatisfy(\.isLevel) {
            check.compareSoon(at: turn.monotonic)
        }
        if check.isDue(at: turn.monotonic) {
            let countsRows = check.countsRows(at: turn.monotonic, every: settings.compareEvery)
            let effect = turn.perform(
                HoldingsRequest(refreshToken: check.refreshesToken, countsRows: countsRows))
            check.begin(effect, ledger.backend, isBound: isBound, countsRows: countsRows)
        }
        return check.effect == nil ? check.due : nil
    }

    /// Compares what the backend holds with what it said it accepted.
    func compare(_ reply: HoldingsReply, _ turn: Turn) throws {
        guard let asked = check.answer() else { return }
        switch HoldingsVerdict(reply, known: asked.known, isBound: asked.isBound) {
        case .complete(let holdings):
            met.takesColumns = holdings.takesColumns
            switch try meet(holdings.generation, sequence: holdings.sequence, created: 0, turn) {
            case .known: try compared(asked, .complete, turn)
            // The comparison was made, and this is its result.
            case .startedOver: check.isCompared(asked, at: turn.monotonic, next: settings.compareEvery)
            case .unclear(let why): check.failed(why, at: turn.monotonic)
            }
        case .lacks(let holdings, let missing):
            guard mayRedeliver(turn) else {
                return check.failed(try unsteady(.lacks, turn), at: turn.monotonic)
            }
            met.takesColumns = holdings.takesColumns
            turn.log(.backendLacks, ["missing": missing.map { "\($0)" } ?? "some"])
            try ledger.note(turn) {
                $0.sequence = holdings.sequence
                $0.created = min(asked.known.created, holdings.created ?? .max, holdings.kept ?? .max)
            }
            try lost(missing, turn)
            check.isCompared(asked, at: turn.monotonic, next: settings.compareEvery)
        case .trust:
            met.takesColumns = false
            try compared(asked, .trust, turn)
        case .retry(let why, let after):
            let asked = after?.seconds(from: turn.now)
            let wait = asked.map { min($0, blockage.askedCap) }
            check.failed(
                why + AskedWait.text(asked: asked, now: turn.now, longest: blockage.askedCap), at: turn.monotonic,
                wait: wait.map { .seconds($0) })
        case .refusedToken(let why): check.refusedToken(why, at: turn.monotonic)
        }
    }

    private func compared(_ asked: BackendCheck.Asked, _ result: KnownBackend.Result, _ turn: Turn) throws {
        check.isCompared(asked, at: turn.monotonic, next: settings.compareEvery)
        // The backend that was asked for has what it accepted.
        met.isRedeliveryAsked = false
        try ledger.note(turn) {
            $0.compared = turn.now
            // The result of a comparison before a redelivery is over says nothing, and would be taken for its end after
            // a restart.
            guard $0.result != .redelivered || !check.followsRedelivery else { return }
            $0.result = result
            $0.missing = nil
        }
        // Once no redelivery is pending, the backend has what it used to lack.
        if !check.followsRedelivery { try turn.clear(.degraded, subject: "backend") }
    }

    /// A comparison's progress is reported in steps of so many rows, which is enough to see that there is some.
    private static let comparedStep: Int64 = 100_000

    var backendReport: UploaderDetails.Backend {
        let known = ledger.backend
        // Something that doesn't answer like a backend isn't trusted.
        let isTrusted = !isBound && !blockage.isDoubtful && (known.result == .trust || ledger.hasDelivered)
        var report = UploaderDetails.Backend(
            acceptance: isBound ? .proven : isTrusted ? .trust : .unknown,
            isCompared: (isBound ? check.isCurrent : check.isDone) && !awaitsProof, compared: known.compared,
            result: known.result, missing: known.missing, check: check.answered,
            why: check.why ?? (awaitsProof ? proof.why : nil))
        report.comparing = proof.run.map { $0.rows - $0.rows % Self.comparedStep }
        return report
    }
}
