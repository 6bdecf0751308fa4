import Changelog
import HealthModel
import MessageBus
import Protocol
import SQLite

/// One turn of a stage: the current time, the transaction shared by its outputs and anchors, and what is to be sent.
///
/// The transaction begins with the first write and ends with the turn. Messages and effects go out after the commit;
/// pulls go out at once, since they only ask for data.
package final class Turn {
    /// The wall clock.
    package let now: Instant
    /// The monotonic clock, for windows and time-outs.
    package let monotonic: MonotonicTime
    package let log: StageLog

    private let stage: StageDatabase
    /// The store's head when the turn began.
    private let before: SequenceNumber
    /// The stage's own changelog.
    package let changelog: KeyedChangelog
    private let identifiers: Identifiers

    private var said: [(topic: String, body: Value)] = []
    var hinted: [Hinted] = []
    package private(set) var effects: [Effect] = []
    private var pulls: [Pull] = []
    private var withdrawn: [Int64] = []

    /// The source of the ids for pulls and effects. An effect's id is unique within a process's lifetime. A pull's id
    /// is also random, so that only the producer that was asked can answer it.
    package final class Identifiers {
        private var last: Int64
        private var random: any RandomNumberGenerator

        /// - Parameter random: generates the pulls' ids; this is the system's generator, except in a simulation.
        package init(
            startingAt first: Int64 = 0, random: any RandomNumberGenerator = SystemRandomNumberGenerator()
        ) {
            last = first
            self.random = random
        }

        func effect() -> Int64 {
            last += 1
            return last
        }

        func pull() -> Int64 { Int64.random(in: 1 ... .max, using: &random) }
    }

    package init(
        now: Instant, monotonic: MonotonicTime, log: StageLog, stage: StageDatabase, changelog: KeyedChangelog,
        identifiers: Identifiers
    ) {
        (self.now, self.monotonic, self.log, self.stage) = (now, monotonic, log, stage)
        before = stage.head.sequence
        (self.changelog, self.identifiers) = (changelog, identifiers)
    }

    /// The database for reading, inside or outside the turn's transaction.
    package var database: Database { stage.database }
    package var head: StoreHead { stage.head }
    package var isWriting: Bool { stage.isInTransaction }

    /// The database for writing; begins the turn's transaction if it hasn't begun yet.
    package func write() throws -> StageDatabase {
        if !stage.isInTransaction { try stage.begin() }
        return stage
    }

    /// Sends a message once the turn is committed.
    ///
    /// - Parameter body: one of the protocol's types.
    package func publish(_ topic: String, _ body: some Encodable) { said.append((topic, Value(body))) }

    /// Announces, once the turn is committed, that the stage's own changelog has advanced. There is one hint per topic,
    /// with the head at that time, no matter how often this is called.
    package func hint(_ topic: String) { _ = hintedPlace(of: topic) }

    func hintedPlace(of topic: String) -> Int {
        if let place = hinted.firstIndex(where: { $0.topic == topic }) { return place }
        hinted.append(Hinted(topic: topic))
        return hinted.endIndex - 1
    }

    /// What is to be sent once the turn is committed.
    package var published: [(topic: String, body: Value)] {
        said + hinted.map { (topic: $0.topic, body: Value($0.hint(before: before, head: head))) }
    }

    /// Asks a producer for pages.
    @discardableResult
    package func pull(_ producer: String, _ query: any Query, _ place: PullPlace = PullPlace()) -> Pull {
        let pull = Pull(id: identifiers.pull(), producer: producer, question: Question(query, place))
        pulls.append(pull)
        return pull
    }

    /// Stops repeating a pull whose producer is gone for good. Otherwise a pull is repeated until it is answered.
    package func withdraw(_ pull: Pull) {
        pulls.removeAll { $0.id == pull.id }
        withdrawn.append(pull.id)
    }

    /// Asks the host to do something once the turn is committed.
    @discardableResult
    package func perform(_ request: any Sendable) -> Int64 {
        let effect = Effect(id: identifiers.effect(), request: request)
        effects.append(effect)
        return effect.id
    }

    /// The pulls requested since the last call, for the host.
    package func takePulls() -> [Pull] {
        defer { pulls = [] }
        return pulls
    }

    /// The pulls withdrawn since the last call, for the host.
    package func takeWithdrawn() -> [Int64] {
        defer { withdrawn = [] }
        return withdrawn
    }

    /// Commits whatever the turn wrote; returns true if it wrote anything.
    package func commit() throws -> Bool {
        guard stage.isInTransaction else { return false }
        try stage.commit(at: now)
        return true
    }

    package func rollback() { stage.rollback() }
}
