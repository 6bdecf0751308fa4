import Changelog
import HealthModel
import Protocol
import StageKit

/// What follows from a comparison: what is delivered again, what gets new versions, and what is only said.
extension DeliveryStage {
    private static let renewalPatience = Duration.seconds(60)
    /// More than a producer's changelog grows while it gives out new versions.
    private static let clearance: Int64 = 1 << 20
    /// How many parts of a changelog one request names; the rest comes after the next comparison.
    private static let windowLimit = 5000
    /// After a comparison that left out a list, another begins no sooner than this, unless its producers are heard.
    private static let partialEvery = Duration.seconds(600)
    /// A destination that has said what it keeps is asked this many times, at growing intervals, for about an hour,
    /// before it counts as one that can't.
    private static let inabilityLimit = 12

    func conclude(_ run: ProofRun, _ turn: Turn) throws {
        let request = proof.request
        let isRepairing = request.map { $0.dryRun != true } ?? true
        let before = ledger.proof.last?.wrong ?? .max
        proof.succeeded()
        let wrong = Int64(run.report.wrong)
        var again = run.again
        // Where there are no versions, whatever is delivered again replaces what is there.
        if !settings.keepsVersions { again.merge(run.contested) { $0 + $1 } }
        let renewals = self.renewals(after: run)
        let isPartial = !run.report.uncompared.isEmpty
        // If repairing doesn't help several times in a row, it won't.
        let rounds = wrong < before && !isPartial ? 0 : ledger.proof.rounds
        let mayRepair =
            request == nil
            ? rounds < ProofRecord.roundLimit
            : isRepairing && (proof.repaired == 0 || proof.unfinished.map { wrong < $0 } ?? false)
        let repairs = mayRepair && (!again.isEmpty || !renewals.found.isEmpty)
        turn.log(.proofEnded, ["rows": run.rows, "wrong": wrong, "repairs": repairs])
        if run.scope.isWhole, isPartial {
            if request == nil {
                try ledger.noteProof(turn) {
                    $0.isDoubted = repairs
                    $0.rounds = repairs ? rounds + 1 : wrong == 0 ? 0 : rounds
                }
            }
        } else if run.scope.isWhole {
            let compared = run.report.users.reduce(0) { $0 + $1.lists.values.reduce(0) { $0 + $1.here } }
            var summary = ProofSummary(
                at: turn.now, compared: Int64(compared), wrong: wrong,
                unable: renewals.isTooHigh ? "it holds versions beyond those that there can be" : nil)
            let beyond = run.report.count(.beyond)
            summary.beyond = beyond > 0 ? Int64(beyond) : nil
            let replaced = run.contested.values.reduce(0) { $0 + $1.count }
            if request == nil, repairs, replaced > 0 {
                summary.replaced = Int64(replaced)
            } else if ledger.proof.rounds > 0 {
                // The comparison that follows a repair.
                summary.replaced = ledger.proof.last?.replaced
            }
            try ledger.noteProof(turn) {
                $0.last = summary
                guard request == nil else { return }
                $0.isDoubted = repairs
                $0.rounds = repairs ? rounds + 1 : 0
            }
            proof.doubts = repairs || wrong == 0 ? 0 : min(proof.doubts + 1, 10)
        }
        try ProofTable.keep(run.report.users, in: turn.write().database)
        if repairs {
            if !again.isEmpty { proof.replay = replay(again, turn) }
            renew(renewals.found, turn)
            if request != nil {
                proof.repaired += again.values.reduce(renewals.rows) { $0 + $1.count }
                proof.unfinished = renewals.isCut ? wrong : nil
                return
            }
        } else if request == nil {
            try settle(run, turn)
        }
        if run.scope.isWhole {
            try alert(of: run.report, isRepairing: repairs && (isPartial || !proof.new.isEmpty), turn)
        }
        guard let request else { return }
        proof.result = (
            request.id,
            .done([
                "contents": .bool(run.report.comparesContents), "repairable": Value(run.report.repairable),
                "repaired": Value(isRepairing ? proof.repaired : nil), "wrong": .integer(wrong),
                "uncompared": run.report.uncomparedValue,
            ])
        )
        proof.request = nil
        proof.repaired = 0
    }

    /// The rows that get new versions.
    private struct Renewals {
        var found: [String: Renewal] = [:]
        /// How many, and whether there are more than one request names.
        var rows = 0
        var isCut = false
        /// Whether the destination holds versions beyond those that there can be.
        var isTooHigh = false
    }

    /// Which rows need new versions. Without a person's request only those of a new line, or a new person's, do: what is
    /// newer there than anything of a settled line comes from another stack, and two must not outbid each other.
    private func renewals(after run: ProofRun) -> Renewals {
        let isByHand = proof.request != nil
        var renewals = Renewals()
        guard settings.keepsVersions else { return renewals }
        // A deletion that only the destination knows must not be undone: a store that was lost or restored may not know
        // it.
        let knowsDeletions = ledger.proof.settled[samples.producer] == line(of: samples)
        for upstream in upstreams {
            // One that has nothing may have had something before it was restored.
            let isRestored = upstream.head?.gap != nil
            let lists =
                run.listsOf[upstream.producer]
                ?? Set(HeldList.allCases.filter { isRestored && producers(of: $0).contains { $0 === upstream } })
            let floor = SequenceNumber(lists.compactMap { run.highest[$0] }.max() ?? 0)
            let isNew = proof.new.contains(upstream.producer) || !proof.newUsers.isEmpty
            let head = upstream.head?.sequence ?? .beginning
            var rows = run.contested[upstream.producer] ?? []
            if isByHand || isNew && knowsDeletions { rows += run.revivable[upstream.producer] ?? [] }
            // What it got after it was read may have lower versions than what is there.
            let read = proof.heads[upstream.producer]?.sequence ?? head
            guard !rows.isEmpty || isNew && floor > read else { continue }
            guard floor <= Renewal.highest else {
                renewals.isTooHigh = true
                continue
            }
            // The head shows that it is done, so it has to pass where it is now, and what arrives meanwhile. Windows aren't
            // joined: what lies between two may be a deletion that must stay.
            let windows = SequenceWindows.exact(rows, limit: Self.windowLimit)
            let covered = windows.last.map { last in rows.count { $0 <= last.until } } ?? 0
            renewals.found[upstream.producer] = Renewal(
                above: max(floor, SequenceNumber(head.value + Self.clearance)),
                rows: windows.map { [$0.after, $0.until] })
            renewals.rows += covered
            renewals.isCut = renewals.isCut || covered < rows.count
        }
        return renewals
    }

    private func replay(_ again: [String: [SequenceNumber]], _ turn: Turn) -> RepairRequest {
        var request = RepairRequest(id: "proof-\(turn.now.microseconds)", action: "replay")
        request.rows = again.mapValues { SequenceWindows.of($0).map { [$0.after, $0.until] } }
        return request
    }

    private func renew(_ renewals: [String: Renewal], _ turn: Turn) {
        proof.renewing = renewals
        proof.awaited = [:]
        proof.asked = turn.monotonic
        for upstream in upstreams {
            guard let renewal = renewals[upstream.producer] else { continue }
            let place = PullPlace(store: upstream.head?.store, generation: upstream.head?.generation)
            proof.renewals.append(turn.pull(upstream.producer, .renew(renewal), place))
        }
    }

    /// Waits until each producer's head shows that it has given out higher versions.
    func awaitRenewals(_ turn: Turn) -> MonotonicTime? {
        for (producer, renewal) in proof.renewing {
            // Raising the store and renewing rows is one transaction.
            guard let head = upstreams.first(where: { $0.producer == producer })?.head?.sequence, head >= renewal.above
            else { continue }
            proof.renewing[producer] = nil
            proof.awaited[producer] = head
        }
        guard let producer = proof.renewing.keys.min() else { return turn.monotonic }
        let end = proof.asked + Self.renewalPatience
        guard turn.monotonic >= end else { return end }
        failProof("'\(producer)' gives out no new versions; 'healthbus doctor' shows what is stuck", turn)
        return proof.retryAt
    }

    func failProof(_ why: String, wait: Duration? = nil, _ turn: Turn) {
        for pull in proof.renewals { turn.withdraw(pull) }
        proof.renewals = []
        proof.failed(why, at: turn.monotonic, wait: wait)
    }

    /// The lines that were compared are level with the destination, as far as they are still the present ones. One of
    /// which nothing had been delivered isn't: what it delivers first may be older than what is there. People are only
    /// once all their lists were compared; until then, that is tried again.
    private func settle(_ run: ProofRun, _ turn: Turn) throws {
        let lines = lines(of: upstreams).filter { proof.new.contains($0.key) && proof.lines[$0.key] == $0.value }
        let isPartial = !run.report.uncompared.isEmpty
        if isPartial { (proof.isPartial, proof.retryAt) = (true, turn.monotonic + Self.partialEvery) }
        proof.partlyNew = isPartial ? proof.partlyNew.union(proof.newUsers) : []
        try ledger.noteProof(turn) {
            $0.settled.merge(lines) { $1 }
            $0.known.subtract(run.sources.map(\.producer))
            guard !isPartial else { return }
            $0.users.formUnion(run.names)
            $0.newUsers.subtract(proof.newUsers)
        }
    }

    /// The destination can't say what it keeps. If it knew elements of a new line that had never been sent, its versions
    /// are higher: then documents get higher ones, by growing steps, until it takes them.
    func unable(_ why: String, _ turn: Turn) throws {
        if let request = proof.request {
            proof.succeeded()
            proof.request = nil
            proof.result = (request.id, .refused("what the \(word) keeps can't be verified: \(why)"))
            return
        }
        guard let run = proof.run else { return }
        // A server behind a proxy, or under maintenance, may answer otherwise for a while.
        if let last = ledger.proof.last, last.unable == nil, proof.inabilities < Self.inabilityLimit {
            failProof(why, wait: .seconds(1) * (1 << proof.inabilities), turn)
            proof.inabilities += 1
            return
        }
        proof.succeeded()
        let round = ledger.proof.rounds
        var renewals: [String: Renewal] = [:]
        if settings.keepsVersions, round < ProofRecord.roundLimit {
            for upstream in upstreams
            where proof.new.contains(upstream.producer) && ledger.proof.known.contains(upstream.producer) {
                guard let head = upstream.head?.sequence else { continue }
                let step = Int64(1) << Int64(32 + 4 * round)
                renewals[upstream.producer] = Renewal(
                    above: SequenceNumber(head.value + step),
                    rows: upstream === samples ? [] : [[SequenceNumber.beginning, head]])
            }
        }
        try ledger.noteProof(turn) {
            $0.last = ProofSummary(at: turn.now, compared: 0, wrong: 0, unable: why)
            $0.isDoubted = false
            $0.rounds = renewals.isEmpty ? 0 : round + 1
            $0.known = []
        }
        try turn.clear(.degraded, subject: "proof")
        if renewals.isEmpty { try settle(run, turn) } else { renew(renewals, turn) }
    }

    private func alert(of report: VerifyReport, isRepairing: Bool, _ turn: Turn) throws {
        guard report.wrong > 0 else {
            guard report.uncompared.isEmpty else { return }
            try turn.clear(.degraded, subject: "proof")
            return
        }
        guard !isRepairing else { return }
        let choice = "--destination \(instance)"
        let deleted = report.count(.deletedLater)
        try turn.raise(
            deleted == report.wrong
                ? Alert(
                    .degraded, subject: "proof",
                    text: "The \(word) has deleted elements that this stack still has: a deletion was lost here.",
                    remedy:
                        "'healthbus verify \(choice)' counts them. The newest export deletes them here too: 'healthbus import --complete FILE'."
                )
                : Alert(
                    .degraded, subject: "proof",
                    text: "The \(word) holds elements that differ from what was delivered, or lacks some.",
                    remedy:
                        "'healthbus verify \(choice)' says which; 'healthbus verify \(choice) --repair' delivers them again. "
                        + "If they differ again, something else writes there: another stack for the same person, say."))
    }
}
