import Changelog
import HealthModel
import MessageBus
import Protocol
import SQLite
import Simulation
import StageKit
import TestSupport
import Testing

/// One stage with a file of its own, driven by hand, turn by turn: there is no bus, and no clock but the test's.
final class StageRig<Driven: Stage> {
    let folder: TemporaryFolder
    /// The wall clock, and the monotonic one.
    var now: Instant
    var monotonic = MonotonicTime.seconds(1000)
    private(set) var stage: Driven
    private(set) var store: StageDatabase
    private(set) var changelog: KeyedChangelog
    let log = EventLog()
    private var identifiers = Turn.Identifiers()
    private let make: () -> Driven

    // What the turns have produced since these were last emptied.
    var sent: [(topic: String, body: Value)] = []
    var pulls: [Pull] = []
    var effects: [Effect] = []
    /// The number of turns that wrote something.
    var commits = 0
    /// When the last tick asked to be called again.
    private(set) var deadline: MonotonicTime?

    init(now: Instant = Instant(seconds: 1_743_069_600), _ make: @escaping () -> Driven) throws {
        self.now = now
        folder = try TemporaryFolder()
        self.make = make
        stage = make()
        (store, changelog) = try Self.open(folder, now: now)
        try start()
    }

    private static func open(_ folder: TemporaryFolder, now: Instant) throws -> (StageDatabase, KeyedChangelog) {
        let store = try StageDatabase(path: folder.path + "/state.sqlite")
        try store.transaction {
            try KeyedChangelog.createTables(in: store.database)
            try Upstream.createTables(in: store.database)
        }
        return (store, try KeyedChangelog(store))
    }

    private func start() throws {
        let turn = makeTurn()
        try stage.open(turn)
        _ = try turn.commit()
        effects += turn.effects
    }

    private func makeTurn() -> Turn {
        Turn(
            now: now, monotonic: monotonic, log: log.stageLog, stage: store, changelog: changelog,
            identifiers: identifiers)
    }

    /// The process ends and starts again: anything that wasn't committed is lost.
    func restart() throws {
        stage = make()
        (sent, pulls, effects) = ([], [], [])
        identifiers = Turn.Identifiers(startingAt: 1_000_000)
        (store, changelog) = try Self.open(folder, now: now)
        try start()
        try turn()
    }

    /// One turn, as a host runs it.
    /// - Parameter messages: what it takes in, which the host repeats to a stage whose turn fails.
    func turn(messages: [Message] = [], _ body: (Turn) throws -> Void = { _ in }) throws {
        let turn = makeTurn()
        do {
            try body(turn)
            deadline = try stage.tick(turn)
            if try turn.commit() { commits += 1 }
        } catch {
            turn.rollback()
            sent += stage.lastWords(messages)
            throw error
        }
        sent += turn.published
        pulls += turn.takePulls()
        effects += turn.effects
    }

    /// Runs turns for as long as the stage asks for another one at once, as a host does.
    func finishTurns() throws {
        while let deadline, deadline <= monotonic { try turn() }
    }

    func hear(_ topic: String, _ body: Value) throws {
        try hear(Message(topic: topic, header: .init(from: "test", at: now), body: body))
    }

    func hear(_ beat: Heartbeat) throws { try hear(beat.message(at: now)) }

    private func hear(_ message: Message) throws {
        try turn(messages: [message]) { try stage.receive(message, $0) }
    }

    func answer(_ pull: Pull, _ result: PullAnswer.Result) throws {
        pulls.removeAll { $0.id == pull.id }
        try turn { try stage.receive(PullAnswer(pull: pull, result: result), $0) }
    }

    func reply(_ effect: Effect, _ value: any Sendable) throws {
        effects.removeAll { $0.id == effect.id }
        try turn { try stage.receive(EffectResult(id: effect.id, value: value), $0) }
    }

    /// Lets time pass on both clocks, then runs a turn.
    func pass(_ time: Duration) throws {
        now += time
        monotonic += time
        try turn()
    }

    func report() throws -> StageReport { try stage.report(makeTurn()) }

    /// The rows of the stage's changelog, tombstones included.
    func rows() throws -> [String: KeyedChangelog.Row] {
        let page = try KeyedChangelog.page(in: store.database, after: 0, until: store.sequence, bytes: .max)
        return Dictionary(uniqueKeysWithValues: page.rows.map { ($0.key, $0) })
    }
}

func head(_ sequence: Int64, store: String = "store", generation: String = "one") -> StoreHead {
    StoreHead(store: store, generation: generation, sequence: SequenceNumber(sequence))
}

func beat(
    _ instance: String, _ head: StoreHead, heads: [String: SequenceNumber] = [:],
    frontier: [String: SequenceNumber] = [:], details: [String: Value] = [:]
) -> Heartbeat {
    Heartbeat(
        instance: instance, plugin: instance, phase: .ready, pid: 1, head: head, heads: heads, frontier: frontier
    ).saying(details)
}

extension Pull {
    var name: String { query["query"]?.string ?? "" }
    func integer(_ member: String) -> Int64? { query[member]?.int }
}

extension PullSource {
    /// Answers a request as it arrives over the bus, with members in their wire form.
    func answer(_ request: Value, head: StoreHead, page: ([String: Value], Bool) -> Void) throws {
        let question = try Question(members: request, among: queries)
        try answer(question, for: request["consumer"].string, head: head) { content, isLast in
            page(Value(content).object ?? [:], isLast)
        }
    }
}
