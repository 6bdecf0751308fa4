import Changelog
import HealthModel
import Protocol
import StageKit

extension DeliveryStage {
    private static let lettersPerStep = 1000

    package func repair(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        switch request.action {
        case "replay":
            if let since = request.since {
                deliveries.remove(of: samples.name)
                // A backfill that isn't over hasn't counted everything up to the anchor.
                if settings.deliverSince != nil { try ledger.readsAgain(through: samples.cursor.frontier, turn) }
                try samples.rewind(to: since, turn)
                return try repaired(request, turn)
            }
            guard steps(of: request) != nil else {
                return .refused("a replay needs 'from' and 'through', 'since' or 'rows'")
            }
            fallthrough
        case "retry":
            replay.waiting = request
            return .underWay(left: 1)
        case "drop":
            var dropped: Int64 = 0
            while true {
                let letters = try DeadLetter.page(
                    in: turn.database, request.selection, limit: Self.lettersPerStep)
                guard !letters.isEmpty else { return .done(["dropped": .integer(dropped)]) }
                try ledger.forget(letters, isDropped: true, turn)
                dropped += Int64(letters.count)
            }
        case "verify": return beginProof(request)
        case "reset":
            deliveries.restart()
            held.forgetMetrics()
            blockage.goesOn()
            blockage.tryNow()
            check = BackendCheck()
            proof = ProofTask()
            replay.reset()
            try ledger.reset(turn)
            for upstream in upstreams { try upstream.forget(turn) }
            return .done([:])
        case let other: return .refused("an uploader doesn't support '\(other)'")
        }
    }

    package func repaired(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        if request.action == "verify" { return proofState(of: request) }
        if request.since != nil {
            return samples.isLevel ? .done([:]) : .underWay(left: 1)
        }
        beginWaitingReplay()
        guard replay.waiting == nil else { return .underWay(left: 1) }
        guard replay.id == request.id else { return .done([:]) }
        guard replay.isDone else { return .underWay(left: replay.left) }
        var result: [String: Value] = ["sent": .integer(replay.elements)]
        if request.action == "retry" {
            result["deadLetters"] = .integer(ledger.deadLetters)
        } else {
            result["refused"] = .integer(replay.refused)
        }
        return .done(.object(result))
    }

    func beginWaitingReplay() {
        guard let request = replay.takeWaiting(or: &proof.replay) else { return }
        deliveries.removeAgain()
        let steps =
            request.action == "retry"
            ? [DeliveryReplay.Step.letters(request.selection, after: 0)]
            : self.steps(of: request) ?? []
        replay.begin(request.id, users: request.users, isByHand: true, steps: steps)
    }

    // MARK: Dead letters

    /// Raises an alert while there are dead letters, including those of an earlier process or release: nothing sends
    /// them again until a person decides.
    func alertOfLetters(_ turn: Turn) throws {
        guard let hasLetters = ledger.reportLetters() else { return }
        guard hasLetters else {
            try turn.clear(.deadLetters)
            return
        }
        // The destination is named, since others may have dead letters too.
        let choice = "--destination \(instance)"
        try turn.raise(
            Alert(
                .deadLetters, text: "The destination \(instance) has refused elements for good: they are dead letters.",
                remedy:
                    "'healthbus dead-letters list \(choice)' says why; 'healthbus dead-letters retry --all \(choice)' "
                    + "sends them again, 'healthbus dead-letters drop --all --yes \(choice)' gives them up"))
    }

    /// Looks for the row of the next letter, wherever it may be. A letter whose row has changed since then is deleted,
    /// because the newer version is delivered anyway.
    func nextLetter(_ selection: RepairSelection, after: Int64, _ turn: Turn) throws {
        if let gone = replay.takeLetter() { try ledger.forget([gone], isDropped: false, turn) }
        let letter = try DeadLetter.page(in: turn.database, selection, after: after, limit: 1).first
        let producers =
            switch letter.map({ DeliveryMetric(family: $0.metric) }) {
            case .daily?, .sleep?, .workouts?: documents.map(\.producer) + [samples.producer]
            default: [samples.producer]
            }
        replay.retry(letter, in: producers, of: selection)
    }

    /// Where to find the letter's row in exactly that version, if it can still be there.
    func place(of letter: DeadLetter, at producer: String) -> (query: any Query, place: PullPlace)? {
        guard let upstream = upstreams.first(where: { $0.producer == producer }),
            upstream.cursor.anchor.maximum >= letter.sequence
        else { return nil }
        return (upstream.query, upstream.place(after: letter.sequence.previous, until: letter.sequence))
    }

    /// Selects the group that contains the element that the letter is about.
    func groups(of letter: DeadLetter, _ pages: [Value], from producer: String) throws -> [DeliveryGroup] {
        try split(pages, from: DeliveryReplay.name, isSamples: producer == samples.producer).taken.filter {
            $0.place(of: letter) != nil
        }
    }
}
