import Changelog
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit

/// A redelivery, for a chunk of a historical sync or for a person's request. Samples, events and days, or dead letters,
/// are delivered again, after everything live.
///
/// Versions make redelivery harmless, so its progress isn't stored: after a restart the chunk starts over. Only the
/// completion of a chunk is stored.
struct DeliveryReplay: Sendable, Equatable {
    enum Step: Sendable, Equatable {
        case samples(user: String, from: Instant, to: Instant, position: SlicePlace?)
        /// The rows of a producer's changelog that belong to these days.
        case documents(producer: String, topic: String, days: ClosedRange<Int>, after: SequenceNumber, head: StoreHead?)
        /// The row that a dead letter is about, in that producer's changelog, if it is unchanged.
        case letter(DeadLetter, producer: String)
        /// The selected dead letters whose number is higher than a given one.
        case letters(MendSelection, after: Int64)
        case rows(ReplayedRows)
    }

    private(set) var id: String?
    /// The users whose days are delivered; nil for all.
    private(set) var users: Set<String>?
    private(set) var isDone = false
    var steps: [Step] = []
    /// The current question, with the step that it belongs to.
    var inFlight: (pull: Int64, step: Step)?
    /// Whether a question wasn't answered with pages; if so, it is asked again when the chunk is announced again.
    var isWaiting = false
    /// Whether a person requested the redelivery. Such a request isn't announced again, and is finished before a chunk
    /// of the historical sync continues.
    private(set) var isByHand = false
    /// The number of elements that the redelivery has delivered or will deliver.
    var elements: Int64 = 0
    /// How many of them the destination refused for good.
    var refused: Int64 = 0
    /// The dead letter that is being retried, and whether its row has been found.
    var letter: DeadLetter?
    var isLetterFound = false

    /// The name used for the redelivery's deliveries; no upstream has this name.
    static let name = "replay"

    static func == (a: DeliveryReplay, b: DeliveryReplay) -> Bool { a.id == b.id && a.isDone == b.isDone }

    mutating func open(_ turn: Turn) throws {
        id = try turn.database.prepare("SELECT value FROM backend WHERE key = 'replay'").firstRow { $0.string(0) }
        isDone = id != nil
    }

    mutating func begin(_ id: String, users: [String: [Instant]]?, isByHand: Bool = false, steps: [Step]) {
        self.isByHand = isByHand
        elements = 0
        refused = 0
        self.id = id
        self.users = users.map { Set($0.keys) }
        self.steps = steps
        isDone = false
        isWaiting = false
        inFlight = nil
    }

    /// Forgets whatever was in transit; its answers are lost. A chunk is announced again within a second; a person's
    /// request is covered because everything is delivered again.
    mutating func restart() {
        guard !isDone else { return }
        if isByHand { isDone = true }
        id = nil
        steps = []
        inFlight = nil
    }

    mutating func finish(_ turn: Turn) throws {
        guard let id else { return }
        isDone = true
        guard !isByHand else { return }
        let write = try turn.write().database.prepare("INSERT OR REPLACE INTO backend VALUES ('replay', ?)")
        write.bind(1, id)
        try write.run()
    }

    var report: ReplayProgress? {
        id.map { ReplayProgress(id: $0, left: isDone ? 0 : Int64(max(1, steps.count))) }
    }
}

extension DeliveryStage {
    func hear(_ told: Replay?) {
        if told != nil || replay.isByHand { replay.isWaiting = false }
        isHistoryTold = told != nil
        guard let told, told.id != replay.id, !replay.isByHand || replay.isDone else { return }
        guard let steps = steps(of: told) else { return }
        deliveries.removeAgain()
        replay.begin(told.id, users: told.users.isEmpty ? nil : told.users, steps: steps)
    }

    /// The steps that redeliver the requested elements; nil when the request names none.
    func steps(of request: MendRequest) -> [DeliveryReplay.Step]? {
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
                    after: .beginning,
                    head: nil))
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
        guard replay.id != nil, !replay.isDone, !replay.isWaiting, replay.inFlight == nil else { return false }
        guard deliveries.mayGoOnAgain() else { return false }
        guard let step = replay.steps.first else {
            try replay.finish(turn)
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
            guard let (query, place) = self.place(of: letter, at: producer) else {
                replay.steps.removeFirst()
                return true
            }
            pull = turn.pull(producer, query, place)
        case .rows(let rows):
            guard let (query, place) = self.place(of: rows) else {
                replay.steps.removeFirst()
                return true
            }
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
        replay.inFlight = (pull.id, step)
        return false
    }

    /// Accepts the answer to one of the chunk's questions; returns false for any other answer.
    func receive(replayed answer: PullAnswer, _ turn: Turn) throws -> Bool {
        guard let (pull, step) = replay.inFlight, pull == answer.pull.id else { return false }
        replay.inFlight = nil
        guard case .pages(let pages) = answer.result, let last = pages.last else {
            replay.isWaiting = true
            return true
        }
        replay.steps.removeFirst()
        var groups: [DeliveryGroup]
        switch step {
        case .letters: groups = []
        case .letter(let letter, let producer):
            groups = try self.groups(of: letter, pages, from: producer)
            if !groups.isEmpty { replay.steps.removeAll { if case .letter = $0 { true } else { false } } }
        case .rows(let rows):
            groups = try self.groups(of: rows, pages)
            if let rest = try rest(of: rows, after: last) { replay.steps.insert(.rows(rest), at: 0) }
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
                replay.steps.insert(.samples(user: user, from: from, to: to, position: place), at: 0)
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
                replay.steps.insert(
                    .documents(producer: producer, topic: topic, days: days, after: covered.through, head: head),
                    at: 0)
            }
        }
        // Each person's days are replayed separately.
        if case .documents = step, let users = replay.users {
            groups.removeAll { !users.contains($0.user) }
        }
        replay.elements += groups.reduce(0) { $0 + Int64($1.batch.next?.count ?? 0) }
        deliveries.addAgain(groups)
        return true
    }

    /// Turns a slice's page into a page of the anchored query, in which all rows belong to the user.
    private static func owned(_ samples: SamplePage, by user: String) -> SamplesPage {
        SamplesPage(samples: samples, users: [user], user: Array(repeating: 0, count: samples.count))
    }
}
