import Changelog
import HealthModel
import MessageBus
import Protocol
import StageKit

/// Compares, element by element, what was delivered with what the destination keeps: once for each new line of versions,
/// once a day, whenever an answer gives reason to, and when a person asks.
extension DeliveryStage {
    /// A producer that hasn't answered for this long isn't responding.
    private static let pullPatience = Duration.seconds(30)
    /// After a comparison that found nothing, an indication causes another no sooner than this.
    private static let doubtEvery = Duration.seconds(600)
    /// Everybody who runs has been heard after this time.
    private static let hearing = Duration.seconds(30)

    /// The producers of whose present line something was delivered, or that continue a restored store, without having
    /// been compared yet. One that isn't heard holds up nothing.
    var unsettled: [Upstream] {
        guard ledger.hasDelivered else { return [] }
        return upstreams.filter {
            let line = line(of: $0)
            return ledger.proof.settled[$0.producer] != line && isComparable($0)
                && (ledger.proof.begun[$0.producer] == line || $0.head?.gap != nil && $0.generation != nil)
        }
    }

    /// A list can be compared only when all its producers are heard: what one of them has would seem to be missing here.
    private func isComparable(_ upstream: Upstream) -> Bool {
        guard handlers.contains(upstream.producer) else { return upstream.limit != nil }
        return upstreams.allSatisfy { $0.limit != nil || !handlers.contains($0.producer) }
    }

    /// What an earlier release delivered was never compared.
    func openProof(_ turn: Turn) throws {
        guard ledger.proof == ProofRecord(), ledger.hasDelivered else { return }
        let lines = lines(of: upstreams)
        try ledger.noteProof(turn) { $0.begun = lines }
    }

    func lines(of upstreams: [Upstream]) -> [String: String] {
        Dictionary(
            upstreams.filter { $0.generation != nil }.map { ($0.producer, line(of: $0)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Something of a person's has been delivered from a producer.
    func noteLine(of upstream: Upstream, user: String, _ turn: Turn) throws {
        let line = line(of: upstream)
        let isNew = ledger.proof.begun[upstream.producer] != line
        guard isNew || !ledger.proof.users.contains(user) && !ledger.proof.newUsers.contains(user) else { return }
        proof.noteNewLine()
        try ledger.noteProof(turn) {
            if isNew {
                $0.begun[upstream.producer] = line
                $0.known.remove(upstream.producer)
                $0.rounds = 0
            }
            if !$0.users.contains(user) { $0.newUsers.insert(user) }
        }
    }

    func line(of upstream: Upstream) -> String {
        "\(upstream.generation ?? "") \(ledger.backend.generation ?? settings.address)"
    }

    /// Whether "delivered" has to wait for a comparison.
    var awaitsProof: Bool {
        settings.proveEvery != nil
            && (!unsettled.isEmpty || !ledger.proof.newUsers.isEmpty || ledger.proof.isDoubted && isFollowUp)
    }

    /// Whether the next comparison doesn't have to wait: somebody asks for it, or something has just been repaired.
    private var isFollowUp: Bool { ledger.proof.rounds > 0 || proof.isHurried }

    /// Whether everything has been delivered, as far as is known.
    private func isQuiet(_ turn: Turn) -> Bool {
        // A destination that says nothing about itself isn't compared after a redelivery.
        let followsRedelivery = check.followsRedelivery && (isBound || ledger.backend.result != .trust)
        return deliveries.isEmpty && samples.isLevel && blockage.reason == nil && held.isEmpty && !followsRedelivery
            && replay.isIdle && proof.replay == nil
            && upstreams.allSatisfy { upstream in
                // One that hasn't been heard for a while is left out.
                upstream.isLevel || upstream.limit == nil && turn.monotonic - proof.opened >= Self.hearing
            } && upstreams.allSatisfy { $0.frontier >= proof.awaited[$0.producer] ?? .beginning }
    }

    /// A store that was made again has nothing to do with what was awaited of the one before.
    func forgetProof(of upstream: Upstream) {
        proof.drop()
        proof.awaited[upstream.producer] = nil
        proof.renewing[upstream.producer] = nil
    }

    func moveProof(_ turn: Turn) throws -> MonotonicTime? {
        for upstream in upstreams where upstream.isLevel { deliveries.noteLevel(upstream.name) }
        guard gate.isOpen else { return nil }
        if proof.run != nil { return try askProof(turn) }
        if !proof.renewing.isEmpty { return awaitRenewals(turn) }
        if let request = proof.request {
            // Right after a start, not everybody has been heard yet.
            guard upstreams.allSatisfy({ $0.limit != nil }) || turn.monotonic - proof.opened >= Self.hearing else {
                return proof.opened + Self.hearing
            }
            guard proof.repaired == 0 || isQuiet(turn) else { return nil }
            try beginProof(Self.scope(of: request), turn)
            return try askProof(turn)
        }
        guard ledger.hasDelivered, isQuiet(turn), let every = settings.proveEvery else { return nil }
        if proof.isPartial, upstreams.allSatisfy({ $0.limit != nil }) {
            (proof.isPartial, proof.retryAt) = (false, .distantPast)
        }
        let due = proofDue(every, turn)
        let next = max(due, proof.retryAt)
        guard turn.monotonic >= next else { return next }
        try beginProof(ProofScope(), turn)
        return try askProof(turn)
    }

    private func proofDue(_ every: Duration, _ turn: Turn) -> MonotonicTime {
        guard unsettled.isEmpty, ledger.proof.newUsers.isEmpty, let last = ledger.proof.last else {
            return turn.monotonic
        }
        // A clock that was set back makes a comparison come early rather than years late.
        let age = turn.now >= last.at ? turn.now - last.at : every
        let wait =
            ledger.proof.isDoubted ? isFollowUp ? .zero : min(Self.doubtEvery * (1 << proof.doubts), every) : every
        return turn.monotonic + max(.zero, wait - age)
    }

    private static func scope(of request: RepairRequest) -> ProofScope {
        ProofScope(
            users: request.users?.compactMapValues { ends in
                guard let first = ends.first, let last = ends.last, first <= last else { return nil }
                return first..<last
            }, from: request.from.flatMap { LocalDay($0) }, to: request.through.flatMap { LocalDay($0) })
    }

    private func beginProof(_ scope: ProofScope, _ turn: Turn) throws {
        turn.log(.proofBegun)
        proof.isHurried = false
        proof.awaited = [:]
        let heard = upstreams.filter { isComparable($0) }
        let lists = HeldList.allCases.filter { list in
            switch list {
            case .samples: heard.contains { $0 === samples }
            case .days: heard.contains { $0 !== samples && !handlers.contains($0.producer) }
            case .nights, .workouts: handlers.isSubset(of: heard.map(\.producer))
            }
        }
        proof.lines = lines(of: heard)
        proof.new = Set(unsettled.map(\.producer))
        let isPartial = !upstreams.allSatisfy { $0.limit != nil }
        proof.newUsers = ledger.proof.newUsers.subtracting(isPartial ? proof.partlyNew : [])
        // What an alert says is cleared only by a comparison that looks for as much.
        let looksForAll = try proof.request != nil || turn.isRaised(.degraded, subject: "proof")
        proof.run = ProofRun(
            scope,
            of: heard.map {
                ProofRun.Source(
                    producer: $0.producer, isSamples: $0 === samples,
                    delivered: $0.consumedByType ?? AnchorVector(base: $0.frontier))
            }, users: ledger.proof.users, lists: lists,
            isThorough: looksForAll || !proof.new.isEmpty || ledger.proof.isDoubted,
            keepsVersions: settings.keepsVersions, findsTwins: looksForAll)
        proof.run?.report.uncompared = Dictionary(
            uniqueKeysWithValues: HeldList.allCases.map { list in
                (list.rawValue, producers(of: list).filter { $0.limit == nil }.map(\.producer))
            }.filter { !$0.1.isEmpty })
    }

    func producers(of list: HeldList) -> [Upstream] {
        switch list {
        case .samples: [samples]
        case .days: upstreams.filter { $0 !== samples && !handlers.contains($0.producer) }
        case .nights, .workouts: upstreams.filter { handlers.contains($0.producer) }
        }
    }

    private func askProof(_ turn: Turn) throws -> MonotonicTime? {
        if let pull = proof.pull, turn.monotonic - proof.pulledAt >= Self.pullPatience {
            turn.withdraw(pull)
            failProof("'\(pull.producer)' isn't responding; 'healthbus doctor' shows what is stuck", turn)
            return proof.retryAt
        }
        if proof.pull != nil { return proof.pulledAt + Self.pullPatience }
        guard proof.effect == nil, let run = proof.run else { return nil }
        switch run.step {
        case .ours(let source, let after):
            guard let upstream = upstreams.first(where: { $0.producer == run.sources[source].producer }) else {
                return nil
            }
            var place = upstream.place(after: after, until: .end)
            place.bulk = true
            if after == .beginning { proof.heads[upstream.producer] = nil }
            proof.pull = turn.pull(upstream.producer, upstream.query, place)
            proof.pulledAt = turn.monotonic
        case .theirs(var question):
            question.refreshToken = proof.hasRefreshedToken
            proof.effect = turn.perform(question)
        case .done: try conclude(run, turn)
        }
        return nil
    }

    // MARK: Answers

    /// Accepts an answer to one of the comparison's questions; returns false for any other answer.
    func receive(proof answer: PullAnswer, _ turn: Turn) throws -> Bool {
        if let index = proof.renewals.firstIndex(where: { $0.id == answer.pull.id }) {
            proof.renewals.remove(at: index)
            if case .refused(let why) = answer.result {
                failProof("'\(answer.pull.producer)' gives out no new versions: \(why)", turn)
            }
            return true
        }
        guard let pull = proof.pull, pull.id == answer.pull.id, case .ours(_, let after)? = proof.run?.step
        else {
            return false
        }
        proof.pull = nil
        guard let upstream = upstreams.first(where: { $0.producer == pull.producer }) else { return true }
        guard case .pages(let pages) = answer.result, let last = pages.last?.read(CoveredPage.self) else {
            failProof("'\(upstream.producer)' can't be read now", turn)
            return true
        }
        let groups = try DeliveryGroup.groups(
            pages, from: upstream.producer, isSamples: upstream === samples, family: { self.anyFamily($0) })
        let head = proof.heads[upstream.producer] ?? last.head
        proof.heads[upstream.producer] = head
        // What arrives in the meantime isn't waited for.
        let isWhole = last.through <= after || last.through >= head?.sequence ?? .beginning
        let facts = facts(turn)
        try proof.run?.take(ours: groups, next: isWhole ? nil : last.through, facts)
        return true
    }

    private func facts(_ turn: Turn) -> ProofRun.Facts {
        // The comparison is being changed while these are asked for.
        let (isByHand, new, newUsers) = (proof.request != nil, proof.new, proof.newUsers)
        return ProofRun.Facts(
            contents: contents,
            off: { [self] group in
                guard isTaken(group) else { return { _ in true } }
                return { [self] row in
                    if let type = group.type(row), family(type) == nil || samples.off.contains(type) { return true }
                    return settings.deliverSince.map { !group.isRecent(row, since: $0) } ?? false
                }
            },
            mayReplace: { isByHand || new.contains($0) || newUsers.contains($1) },
            refusal: { user, id in try Refusal.find(user: user, id: id, in: turn.database) })
    }

    func receive(_ reply: HeldReply, _ turn: Turn) throws {
        proof.effect = nil
        switch reply {
        case .page(let page):
            do { try proof.run?.take(theirs: page) } catch let problem as ProofProblem {
                failProof(problem.text, turn)
            }
        case .later(let why, let wait):
            let seconds = wait.map { min($0.seconds(from: turn.now), blockage.askedCap) }
            failProof(why, wait: seconds.map { .seconds($0) }, turn)
        case .refusesToken(let why):
            if proof.hasRefreshedToken {
                failProof(why, turn)
            } else {
                proof.hasRefreshedToken = true
            }
        case .unable(let why): try unable(why, turn)
        }
    }

    // MARK: A person's request

    func beginProof(_ request: RepairRequest) -> RepairOutcome {
        proof.drop()
        proof.renewing = [:]
        (proof.request, proof.repaired, proof.unfinished, proof.result) = (request, 0, nil, nil)
        return .underWay(left: 1)
    }

    func proofState(of request: RepairRequest) -> RepairOutcome {
        if let result = proof.result, result.id == request.id { return result.state }
        // A restart has forgotten it.
        if proof.request?.id != request.id { return beginProof(request) }
        return .underWay(left: max(1, proof.run?.rows ?? 1))
    }
}
