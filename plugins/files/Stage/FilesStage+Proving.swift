import Changelog
import HealthModel
import MessageBus
import Protocol
import StageKit

/// Computing every file again from its producers, and comparing it with what is on the disk: once a day, and on request.
extension FilesStage {
    private static let subject = "proof"
    /// How long to wait for a producer that can't be asked, or whose changes were read but not consumed yet.
    static let patience = Duration.seconds(1)

    func openProof(_ turn: Turn) throws {
        proved = try Self.kept.value("proof", in: turn.database)?.read()
        nextProof = try Self.kept.value("nextProof", in: turn.database)?.read()
        if nextProof == nil { try planProof(turn) }
    }

    /// - Parameter planned: when one is due anyway, if that is sooner.
    func planProof(after wait: Duration = FilesProof.interval, atMost planned: Instant? = nil, _ turn: Turn) throws {
        let next = min(turn.now + wait, planned ?? .distantFuture)
        nextProof = next
        try Self.kept.set("nextProof", to: Value(next), turn)
    }

    /// Begins the proof that a person asked for; one that is under way gives way.
    func prove(_ request: RepairRequest, _ turn: Turn) {
        for index in jobs.indices.reversed() where jobs[index].proves { drop(index, turn) }
        proof.begin(
            turn.perform(ListFiles(makesFolder: ledger.count == 0)), for: request.id, repairs: request.dryRun != true)
    }

    func proven(_ request: RepairRequest, _ turn: Turn) -> RepairOutcome {
        if proof.answered == request.id { return .done(proof.result(pending: marks.marks.count)) }
        if let blocked, !proof.isListing {
            proof.stop()
            return .refused(blocked)
        }
        // A restart, or a disk that was away, ends a proof.
        if proof.phase == .idle || proof.request != request.id { prove(request, turn) }
        return .underWay(left: max(1, ledger.count - proof.compared))
    }

    /// Moves on while nothing is being written, and returns when to call it again.
    func moveProof(_ turn: Turn) throws -> MonotonicTime? {
        switch proof.phase {
        case .idle:
            let due = nextProof ?? turn.now
            // A clock that was set back doesn't put it off for longer than usual.
            if turn.now < due, due - turn.now <= FilesProof.interval { return turn.monotonic + (due - turn.now) }
            guard check.isDone, check.phase == .idle else { return nil }
            try planProof(turn)
            proof.begin(turn.perform(ListFiles(makesFolder: ledger.count == 0)))
            return nil
        case .listing, .manifest: return nil
        case .expecting: return try moveExpecting(turn)
        case .repairing:
            for path in proof.repairing {
                if stuck[path] != nil {
                    proof.isStuck(path)
                } else if path == Self.manifestName ? manifest.state == .complete : marks.marks[path] == nil {
                    proof.written(path)
                }
            }
            // If not all can be written, no manifest says that they are complete.
            if !stuck.isEmpty { proof.isStuck(Self.manifestName) }
            guard proof.repairing.isEmpty else { return nil }
            proof.end()
            // Whether they are right now is found out soon, and isn't taken for granted.
            try planProof(after: FilesProof.repeatAfter, turn)
            return turn.monotonic
        case .comparing:
            guard turn.monotonic >= proof.notBefore else { return proof.notBefore }
            while let path = try nextToProve(turn) {
                // A marked file is written again anyway.
                guard marks.marks[path] == nil || stuck[path] != nil, let span = FileSpan(path: path) else { continue }
                try begin(span, generation: 0, proves: true, turn)
                return nil
            }
            if let entry = manifest.settled, proof.takeManifest() {
                proof.comparesManifest(turn.perform(CompareFiles(entries: [entry], readsAll: true)))
                return nil
            }
            try finishComparing(turn)
            return turn.monotonic
        }
    }

    private func nextToProve(_ turn: Turn) throws -> String? {
        guard let last = proof.last else { return proof.takeOther() }
        let path = try ledger.page(after: last, limit: 1, turn).first?.path
        proof.took(path)
        return path ?? proof.takeOther()
    }

    func receive(proof result: EffectResult, _ outcome: FileOutcome, _ turn: Turn) throws -> Bool {
        switch (outcome, proof.phase) {
        case (.listed(let paths, let isLast), .listing(let effect)) where effect == result.id:
            if !isWritingBlocked { works() }
            proof.listed(unknown: try paths.filter { try ledger.entry($0, turn) == nil }, isLast: isLast)
        case (.compared(let differing), .manifest(let effect)) where effect == result.id:
            if !differing.isEmpty, manifest.settled != nil { proof.note(Self.manifestName, .different) }
            proof.compare()
        default: return false
        }
        return true
    }

    /// Accepts the comparison of one file.
    func proved(_ job: FileJob, _ difference: FileDifference?, _ turn: Turn) throws {
        let path = job.span.path
        // It has changed since, and is written again.
        guard marks.marks[path] == nil || stuck[path] != nil else { return }
        let isAhead = job.heads.contains { producer, head in
            upstreams.first { $0.producer == producer }.map { $0.frontier < head } ?? false
        }
        if difference != nil, isAhead { return proof.postpone(path, until: turn.monotonic + Self.patience) }
        proof.note(path, difference)
        guard difference != nil, proof.isRepairing else { return }
        // Without an entry, it is written even if it seems to be as before.
        try ledger.remove(path, turn)
        try marks.mark(path, since: nil, settles: false, turn)
    }

    private func finishComparing(_ turn: Turn) throws {
        let summary = ProofSummary(at: turn.now, compared: proof.compared, wrong: proof.wrong)
        proved = summary
        try Self.kept.set("proof", to: Value(summary), turn)
        guard proof.wrong > 0 else {
            check.proved()
            try turn.clear(.degraded, subject: Self.subject)
            return proof.end()
        }
        turn.log(.backendLacks, ["missing": "\(proof.wrong)"])
        let choice = "--destination \(instance)"
        try turn.raise(
            Alert(
                .degraded, subject: Self.subject,
                text: "\(proof.wrong) of \(proof.compared) files weren't what the stack holds.",
                remedy: proof.isRepairing
                    ? "They are written again, and compared once more within the hour. If it happens again, find out what changes them."
                    : "Have them written again: 'healthbus verify \(choice) --repair'."))
        if proof.isRepairing {
            manifest.isOld()
            marks.hurry()
            proof.repair()
        } else {
            proof.end()
        }
    }
}
