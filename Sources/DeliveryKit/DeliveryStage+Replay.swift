import Changelog
import HealthModel
import MessageBus
import Protocol
import StageKit

/// Asks for what is delivered again, step by step.
extension DeliveryStage {
    func hear(_ chunk: Replay?) {
        guard let chunk = replay.hears(chunk), let steps = steps(of: chunk) else { return }
        deliveries.removeAgain()
        replay.begin(chunk.id, users: chunk.users.isEmpty ? nil : chunk.users, steps: steps)
    }

    /// The steps that redeliver the requested elements; nil when the request names none.
    func steps(of request: RepairRequest) -> [DeliveryReplay.Step]? {
        if let parts = ReplayedRows.parts(of: request) { return parts.map { .rows($0) } }
        return request.days.flatMap { steps(of: $0) }
    }

    private func steps(of days: Replay) -> [DeliveryReplay.Step]? {
        guard let from = LocalDay(days.from), let through = LocalDay(days.through), from <= through else { return nil }
        var steps: [DeliveryReplay.Step] = []
        for (user, range) in days.users.sorted(by: { $0.key < $1.key }) {
            guard let start = range.first, let end = range.last, start <= end else { continue }
            steps.append(.samples(user: user, from: start, to: end, position: nil))
        }
        for upstream in documents {
            guard let query = upstream.query as? ChangesQuery else { continue }
            steps.append(
                .documents(
                    producer: upstream.producer, topic: query.topic ?? "", days: from.number...through.number,
                    after: .beginning, head: nil))
        }
        return steps
    }

    /// Asks for the next part of the chunk once the previous one is delivered, and ends the chunk after its last.
    func pumpReplay(_ turn: Turn) throws {
        // A letter whose row is gone needs no request; at most this many letters are handled in one turn.
        for _ in 0..<Self.lettersPerTurn where try !askReplay(turn) { return }
    }

    private static let lettersPerTurn = 100

    /// Takes one step; returns false when there is nothing to request, or once a request has been sent.
    private func askReplay(_ turn: Turn) throws -> Bool {
        guard replay.mayAsk, deliveries.mayGoOnAgain() else { return false }
        guard let step = replay.step else {
            if let id = replay.finish() { try ledger.noteReplay(id, turn) }
            return false
        }
        // Live data comes first, in requests too.
        guard samples.isLive, !deliveries.hasUnsent else { return false }
        let pull: Pull
        switch step {
        case .letters(let selection, let after):
            try nextLetter(selection, after: after, turn)
            return true
        case .letter(let letter, let producer):
            guard let (query, place) = place(of: letter, at: producer) else { return replay.skip() }
            pull = turn.pull(producer, query, place)
        case .rows(let rows):
            guard let (query, place) = place(of: rows) else { return replay.skip() }
            pull = turn.pull(rows.producer, query, place)
        case .samples(let user, let from, let to, let position):
            guard let types = (samples.query as? SamplesQuery)?.types else { return false }
            let slice = SliceRequest(
                user: user, types: types, asOf: samples.cursor.anchor, from: from, to: to,
                detailed: .choice(.allExcept([])), continue: position)
            pull = turn.pull(
                samples.producer, .slice(slice),
                PullPlace(store: samples.cursor.store, generation: samples.cursor.generation))
        case .documents(let producer, let topic, let days, let after, let head):
            pull = turn.pull(producer, .changes(topic: topic, days: days), PullPlace(of: head, after: after))
        }
        replay.asked(pull.id)
        return false
    }

    /// Accepts the answer to one of the chunk's questions; returns false for any other answer.
    func receive(replayed answer: PullAnswer, _ turn: Turn) throws -> Bool {
        let pages = if case .pages(let pages) = answer.result { pages } else { [Value]() }
        guard let step = replay.answered(answer.pull.id, hasPages: !pages.isEmpty) else { return false }
        guard let last = pages.last else { return true }
        var groups: [DeliveryGroup]
        switch step {
        case .letters: groups = []
        case .letter(let letter, let producer):
            groups = try self.groups(of: letter, pages, from: producer)
            if !groups.isEmpty { replay.foundLetter() }
        case .rows(let rows):
            groups = try self.groups(of: rows, pages)
            if let rest = try rest(of: rows, after: last) { replay.goOn(.rows(rest)) }
        case .samples(let user, let from, let to, _):
            let pages: [SlicePage] = try pages.map { try $0.page(from: samples.producer) }
            groups =
                recent(
                    try DeliveryGroup.groups(
                        samples: pages.map { Self.owned($0.samples, by: user) }, from: DeliveryReplay.name,
                        family: family
                    )
                ).taken
            if let place = pages.last?.continue {
                replay.goOn(.samples(user: user, from: from, to: to, position: place))
            }
        case .documents(let producer, let topic, let days, let after, _):
            groups =
                recent(
                    try DeliveryGroup.groups(
                        documents: try pages.map { try $0.page(from: producer) }, from: DeliveryReplay.name
                    ).filter { isTaken($0) }
                ).taken
            let covered: CoveredPage = try last.page(from: producer)
            guard let head = covered.head else { throw StageError.unreadablePage(producer: producer) }
            if covered.through < head.sequence, covered.through > after {
                replay.goOn(
                    .documents(producer: producer, topic: topic, days: days, after: covered.through, head: head))
            }
        }
        // Each person's days are replayed separately.
        if case .documents = step, let users = replay.users {
            groups.removeAll { !users.contains($0.user) }
        }
        replay.add(groups)
        deliveries.addAgain(groups)
        return true
    }

    /// Turns a slice's page into a page of the anchored query, in which all rows belong to the user.
    private static func owned(_ samples: SamplePage, by user: String) -> SamplesPage {
        SamplesPage(samples: samples, users: [user], user: Array(repeating: 0, count: samples.count))
    }
}
