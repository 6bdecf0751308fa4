import Changelog
import HealthModel
import PluginKit
import SQLite
import Wire

/// A chunk of a historical sync: its samples, events and days are delivered once more, behind all that is live.
///
/// Versions make that harmless, so how far it is isn't kept: after a restart the chunk begins anew. Only that it is done is kept.
struct UploadReplay: Sendable, Equatable {
    enum Step: Sendable, Equatable {
        case samples(user: String, from: Instant, to: Instant, position: Value)
        /// Rows of a producer's changelog that belong to the days.
        case documents(producer: String, topic: String, days: ClosedRange<Int>, after: Int64, anchor: Value)
    }

    private(set) var id: String?
    private(set) var chunk: Value = .null
    private(set) var isDone = false
    var steps: [Step] = []
    /// The question under way, with what it asks for.
    var inFlight: (pull: Int64, step: Step)?
    /// A question wasn't answered with pages: it is asked again when the chunk is told again.
    var isWaiting = false

    /// Name of its deliveries, which is no upstream's.
    static let name = "replay"

    static func == (a: UploadReplay, b: UploadReplay) -> Bool { a.id == b.id && a.isDone == b.isDone }

    mutating func open(_ turn: Turn) throws {
        id = try turn.database.prepare("SELECT value FROM backend WHERE key = 'replay'").firstRow { $0.string(0) }
        isDone = id != nil
    }

    mutating func begin(_ id: String, _ chunk: Value, steps: [Step]) {
        self.id = id
        self.chunk = chunk
        self.steps = steps
        isDone = false
        isWaiting = false
        inFlight = nil
    }

    /// What was on its way is gone: the chunk is told again within a second.
    mutating func restart() {
        guard !isDone else { return }
        id = nil
        steps = []
        inFlight = nil
    }

    mutating func finish(_ turn: Turn) throws {
        guard let id else { return }
        isDone = true
        let write = try turn.write().database.prepare("INSERT OR REPLACE INTO backend VALUES ('replay', ?)")
        write.bind(1, id)
        try write.run()
    }

    var report: Value? {
        id.map { ["id": .string($0), "left": .integer(isDone ? 0 : Int64(max(1, steps.count)))] }
    }
}

extension UploaderStage {
    func hear(replay chunk: Value) {
        if !chunk.isNull { replay.isWaiting = false }
        guard let id = chunk["id"].string, id != replay.id,
            let from = chunk["from"].string.flatMap({ LocalDay($0) }),
            let through = chunk["through"].string.flatMap({ LocalDay($0) }), from <= through
        else { return }
        deliveries.removeAll { $0.fetched == nil }
        var steps: [UploadReplay.Step] = []
        for (user, range) in Value.inOrder(chunk["users"].object ?? [:]) {
            guard let start = range.array?.first?.int, let end = range.array?.last?.int, start <= end else { continue }
            steps.append(.samples(user: user, from: start, to: end, position: .null))
        }
        for upstream in documents {
            steps.append(
                .documents(
                    producer: upstream.producer, topic: upstream.query["topic"]?.string ?? "",
                    days: from.number...through.number, after: 0, anchor: .null))
        }
        replay.begin(id, chunk, steps: steps)
    }

    /// Asks for the next part of the chunk once the one before is delivered, and ends the chunk.
    func pumpReplay(_ turn: Turn) throws {
        guard replay.id != nil, !replay.isDone, !replay.isWaiting, replay.inFlight == nil else { return }
        deliveries.removeAll { $0.fetched == nil && $0.isDone }
        guard !deliveries.contains(where: { $0.fetched == nil }) else { return }
        guard let step = replay.steps.first else { return try replay.finish(turn) }
        // What is live goes first, also in the asking.
        guard samples.isLive, !deliveries.contains(where: { $0.effect == nil && !$0.isDone }) else { return }
        let pull: Pull
        switch step {
        case .samples(let user, let from, let to, let position):
            var query = samples.query
            query["query"] = "slice"
            query["user"] = .string(user)
            query["from"] = .integer(from)
            query["to"] = .integer(to)
            query["asOf"] = samples.cursor.anchor.wireValue
            query["detailed"] = ["exclude": []]
            query["store"] = Value(samples.cursor.store)
            query["generation"] = Value(samples.cursor.generation)
            if !position.isNull { query["continue"] = position }
            pull = turn.pull(samples.producer, query)
        case .documents(let producer, let topic, let days, let after, let anchor):
            pull = turn.pull(
                producer,
                [
                    "query": "changes", "topic": .string(topic), "after": .integer(after), "until": .integer(.max),
                    "days": [.integer(Int64(days.lowerBound)), .integer(Int64(days.upperBound))],
                    "store": anchor["store"], "generation": anchor["generation"],
                ])
        }
        replay.inFlight = (pull.id, step)
    }

    /// Takes the answer to one of the chunk's questions; false when it is to another.
    func receive(replayed answer: PullAnswer, _ turn: Turn) throws -> Bool {
        guard let (pull, step) = replay.inFlight, pull == answer.pull.id else { return false }
        replay.inFlight = nil
        guard case .pages(let pages) = answer.result, let last = pages.last else {
            replay.isWaiting = true
            return true
        }
        replay.steps.removeFirst()
        let groups: [Delivery.Group]
        switch step {
        case .samples(let user, let from, let to, _):
            groups = try Delivery.groups(
                samples: try pages.map { try Self.owned($0, by: user) }, from: UploadReplay.name, family: family)
            if !last["continue"].isNull {
                replay.steps.insert(.samples(user: user, from: from, to: to, position: last["continue"]), at: 0)
            }
        case .documents(let producer, let topic, let days, let after, _):
            groups = try Delivery.groups(documents: pages, from: UploadReplay.name)
            guard let through = last["through"].int, let head = last["head"]["sequence"].int else {
                throw StageError.unreadablePage(producer: producer)
            }
            if through < head, through > after {
                replay.steps.insert(
                    .documents(producer: producer, topic: topic, days: days, after: through, anchor: last["head"]),
                    at: 0)
            }
        }
        if !groups.isEmpty {
            deliveries.append(Delivery(upstream: UploadReplay.name, fetched: nil, groups: groups))
        }
        return true
    }

    /// A slice's page as one of the anchored query: all rows are the user's.
    private static func owned(_ page: Value, by user: String) throws -> Value {
        var members = page.object ?? [:]
        let count = try SamplePage(wireValue: page["samples"]).count
        members["users"] = [.string(user)]
        members["user"] = .column(.int32(Array(repeating: 0, count: count)))
        return .object(members)
    }
}
