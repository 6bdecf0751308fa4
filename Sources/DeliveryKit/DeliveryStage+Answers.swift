import HealthModel
import Protocol
import StageKit

extension DeliveryStage {
    /// Answers in a row that prove nothing before a person is told.
    private static let unprovenLimit = 3

    /// What blocks, for people; nil while things move.
    var whatBlocks: String? { blocked ?? suspicionText }

    /// Does what an answer asks for: goes on, waits, splits, or puts an element aside.
    func settle(_ index: Int, _ sent: Delivery.Sent, _ reply: DeliveryReply, _ turn: Turn) throws {
        switch reply {
        case .wrongForm(let why):
            // It, or what stands before it, can't read columns: the same goes in the other form, whose answer counts, until it says
            // once more what it takes.
            takesColumns = false
            turn.log(.uploadRetry, ["why": why, "seconds": 0])
        case .proven(let answer): try prove(index, sent, answer, turn)
        case .onTrust(let answer):
            if try meet(generation: nil, answer, turn) { try delivered(index, sent, answer, turn) }
        case .otherBackend(let generation, let answer): _ = try meet(generation: generation, answer, turn)
        case .rolledBack(let sequence): try rolledBack(to: sequence, turn)
        case .refusals(let answer, let otherwise): try believe(index, sent, answer, otherwise, turn)
        case .unreadableRefusals(let why):
            try turn.raise(
                Alert(
                    .degraded, subject: "refusals",
                    text: "The backend names elements that it refuses in a form that can't be understood.",
                    remedy: "Nothing is lost meanwhile. \(Self.trial)"))
            try retry(why, turn)
        case .unproven(let why): try doubt(why, turn)
        case .failed(let failure): try act(on: failure, index, sent, turn)
        case .needsPerson(let why): pause(why, turn)
        }
    }

    /// What an answer asks for that says nothing of single elements, or what none came to.
    private func act(on failure: DeliveryReply.Failure, _ index: Int, _ sent: Delivery.Sent, _ turn: Turn) throws {
        let action = policy.action(
            after: failure.outcome, elements: sent.part.count, now: turn.now, using: &generator)
        switch action {
        case .done: break
        case .refreshToken: refreshToken = true
        case .split: deliveries[index].groups[sent.group].batch.split()
        case .deadLetter(let reason): try suspect(index, sent, reason, failure.status, turn)
        case .retry, .pause: try wait(action, failure.why, turn)
        }
    }

    /// Waits as the policy says.
    func wait(_ action: UploadPolicy.Action, _ why: String, _ turn: Turn) throws {
        switch action {
        case .retry(let seconds):
            let wait = Duration.seconds(seconds)
            waitUntil = turn.monotonic + wait
            waitsUntil = policy.asked == nil ? nil : turn.now + wait
            blocked = why + AskedWait.text(asked: policy.asked, now: turn.now, longest: policy.askedCap)
            turn.log(.uploadRetry, ["why": why, "seconds": seconds])
        case .pause(let person): pause(why + "; " + person.remedy, turn)
        case .refreshToken: refreshToken = true
        case .done, .split, .deadLetter: break
        }
    }

    private func pause(_ why: String, _ turn: Turn) {
        blocked = why
        isPaused = true
        // Whoever has mended the token has written another one.
        refreshToken = true
        waitUntil = turn.monotonic + Self.pause
        turn.log(.uploadPaused, ["why": why])
    }

    /// The same again later: nothing is accepted, and nothing refused.
    func retry(_ why: String, _ turn: Turn) throws {
        try wait(policy.action(after: .unproven, elements: 1, now: turn.now, using: &generator), why, turn)
    }

    /// How a person finds out what a server of their own answers.
    private static let trial = "'healthbus backend test' tries a server of your own, case by case."

    /// An answer that may be anybody's.
    func doubt(_ why: String, _ turn: Turn) throws {
        unproven += 1
        if unproven >= Self.unprovenLimit {
            try turn.raise(
                Alert(
                    .degraded, subject: "acceptance",
                    text:
                        "What answers for the backend doesn't prove that it takes anything; nothing is counted as delivered.",
                    remedy:
                        "Look at 'healthbus status': is there a login page in the network, or another server at this address? \(Self.trial)"
                ))
        }
        try retry(why, turn)
    }

    /// The known backend, or one that makes itself known now, accounts for all that was sent.
    private func prove(_ index: Int, _ sent: Delivery.Sent, _ answer: DeliveryAnswer, _ turn: Turn) throws {
        guard try meet(generation: answer.generation, answer, turn) else { return }
        let (reasons, _) = deliveries[index].groups[sent.group].refused(answer.refused, in: sent.part)
        // It has refused one of these, and doesn't say which: the smaller the part, the fewer it can be.
        guard reasons.count == answer.refused.count || sent.part.count == 1 else {
            deliveries[index].groups[sent.group].batch.split()
            return
        }
        try delivered(index, sent, answer, turn)
    }

    /// Refusals in an answer that proves nothing else: what they name is put aside, the rest is sent again.
    private func believe(
        _ index: Int, _ sent: Delivery.Sent, _ answer: DeliveryAnswer, _ otherwise: DeliveryReply.Failure,
        _ turn: Turn
    ) throws {
        let group = deliveries[index].groups[sent.group]
        let (reasons, unknown) = group.refused(answer.refused, in: sent.part)
        try tell(unknown: unknown, turn)
        try bury(group, reasons, answer.status, turn)
        deliveries[index].groups[sent.group].batch.remove(reasons.keys)
        guard reasons.isEmpty else { return try settleDone(turn) }
        // It has named nobody that was sent: the rest of the answer alone counts, if it says anything.
        if otherwise.outcome == .unproven { return try doubt(otherwise.why, turn) }
        try act(on: otherwise, index, sent, turn)
    }

    func bury(_ group: DeliveryGroup, _ reasons: [Int: String], _ status: Int?, _ turn: Turn) throws {
        for (place, reason) in reasons.sorted(by: { $0.key < $1.key }) {
            let element = group.element(place)
            try ledger.bury(
                id: element.id, version: element.version, metric: group.metric, user: group.user, reason: reason,
                status: status, turn)
        }
    }

    private func tell(unknown count: Int, _ turn: Turn) throws {
        guard count > 0 else { return }
        turn.log(.refusalUnknown, ["count": count])
        try turn.raise(
            Alert(
                .degraded, subject: "refusals",
                text: "The backend names elements as refused that were never sent to it; that is passed over.",
                remedy: "See to the backend: 'refused' names elements by the id that they came with. \(Self.trial)"))
    }

    private func delivered(_ index: Int, _ sent: Delivery.Sent, _ answer: DeliveryAnswer, _ turn: Turn) throws {
        goesOn()
        check.delivered()
        let group = deliveries[index].groups[sent.group]
        var (reasons, unknown) = group.refused(answer.refused, in: sent.part)
        if unknown > 0, sent.part.count == 1, answer.counts?.refused == 1 {
            // It can only be this one.
            reasons[sent.part.lowerBound] = answer.refused.first?.reason ?? ""
            unknown = 0
        }
        for subject in ["delivery", "acceptance"] { try turn.clear(.degraded, subject: subject) }
        try tell(unknown: unknown, turn)
        try ledger.unbury(
            sent.part.lazy.filter { reasons[$0] == nil }.map { group.element($0) }, metric: group.metric,
            user: group.user, turn)
        try bury(group, reasons, answer.status, turn)
        try ledger.delivered(sent.part.count - reasons.count, metric: group.metric, answer.counts, turn)
        // What is delivered once more was delivered long ago.
        if deliveries[index].fetched != nil {
            let recent = group.ends(sent.part, since: turn.now - DelayHistogram.horizon)
            try ledger.delayed(recent, metric: group.metric, turn)
        }
        deliveries[index].groups[sent.group].batch.settle()
        if reasons.count < sent.part.count { try accepted(by: group, sent, reasons, turn) }
        if answer.refused.isEmpty, suspicionText == nil { try turn.clear(.degraded, subject: "refusals") }
        try settleDone(turn)
    }

    /// The backend answered for good: what comes next starts anew.
    func goesOn() {
        policy.succeeded()
        blocked = nil
        waitsUntil = nil
        // Whatever a person was to mend is mended.
        if isPaused { waitUntil = .distantPast }
        isPaused = false
        unproven = 0
    }

    /// Whatever waits is tried at once.
    func tryNow() {
        waitUntil = .distantPast
        for metric in suspicions.keys { suspicions[metric]?.tryNow() }
    }
}
