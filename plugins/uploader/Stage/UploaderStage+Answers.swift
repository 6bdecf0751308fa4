import HTTP
import HealthModel
import PluginKit

extension UploaderStage {
    /// Does what an answer asks for: goes on, waits, splits, or puts an element aside.
    func settle(_ index: Int, _ reply: UploadReply, _ turn: Turn) throws {
        guard let group = deliveries[index].nextGroup, let part = deliveries[index].groups[group].batch.next else {
            return
        }
        let outcome: UploadPolicy.Outcome
        var answer: UploadAnswer?
        var status: Int?
        var why: String
        switch reply {
        case .answered(let code, let retryAfter, let body):
            let read = UploadAnswer(body: body)
            answer = read
            status = code
            outcome = .answered(status: code, retryAfter: retryAfter, refused: read.refused.count)
            why = "the backend answered \(code)"
        case .failed(let error):
            outcome = .failed(error.kind)
            why = error.description
        case .noToken(let reason):
            blocked = reason
            isPaused = true
            waitUntil = turn.monotonic + Self.pause
            turn.log(.uploadPaused, ["why": reason])
            return
        }
        switch policy.action(after: outcome, elements: part.count, now: turn.now, using: &generator) {
        case .done: try delivered(index, group, part, answer, status, turn)
        case .retry(let seconds):
            blocked = why
            waitUntil = turn.monotonic + Instant(seconds * 1e6)
            turn.log(.uploadRetry, ["why": why, "seconds": seconds])
        case .refreshToken: refreshToken = true
        case .pause(let pause):
            why += "; " + Self.remedy(pause)
            blocked = why
            isPaused = true
            waitUntil = turn.monotonic + Self.pause
            turn.log(.uploadPaused, ["why": why])
        case .split: deliveries[index].groups[group].batch.split()
        case .deadLetter(let reason):
            let element = deliveries[index].groups[group].element(part.lowerBound)
            try ledger.bury(
                id: element.id, version: element.version, metric: deliveries[index].groups[group].metric,
                user: deliveries[index].groups[group].user, reason: reason, status: status, turn)
            deliveries[index].groups[group].batch.settle()
        }
    }

    private static func remedy(_ pause: UploadPolicy.Pause) -> String {
        switch pause {
        case .unauthorized: "it refuses the token: put the right one into the token's file"
        case .wrongEndpoint: "something else answers at this URL: check the uploader's 'url'"
        }
    }

    private func delivered(
        _ index: Int, _ group: Int, _ part: Range<Int>, _ answer: UploadAnswer?, _ status: Int?, _ turn: Turn
    ) throws {
        blocked = nil
        isPaused = false
        try turn.clear(.degraded, subject: "delivery")
        let metric = deliveries[index].groups[group].metric
        let user = deliveries[index].groups[group].user
        let elements = deliveries[index].groups[group]
        let refused = Set((answer?.refused ?? []).compactMap(\.id))
        try ledger.unbury(
            part.lazy.map { elements.element($0) }.filter { !refused.contains($0.id) }, metric: metric, user: user, turn
        )
        for refusal in answer?.refused ?? [] {
            let version = part.lazy.map { elements.element($0) }.first { $0.id == refusal.id }?.version
            try ledger.bury(
                id: refusal.id ?? "", version: version ?? 0, metric: metric, user: user, reason: refusal.reason,
                status: status, turn)
        }
        let counts = answer.map { ($0.created, $0.updated, $0.known) } ?? (0, 0, 0)
        try ledger.delivered(part.count, metric: metric, created: counts.0, updated: counts.1, known: counts.2, turn)
        // What is delivered once more was delivered long ago.
        if deliveries[index].fetched != nil {
            try ledger.delayed(deliveries[index].groups[group].ends(part), metric: metric, turn)
        }
        deliveries[index].groups[group].batch.settle()
        if let generation = answer?.generation, try ledger.backendChanged(to: generation, turn) {
            try redeliverEverything(turn)
            return
        }
        try settleDone(turn)
    }
}
