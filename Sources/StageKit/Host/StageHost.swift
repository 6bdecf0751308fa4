import Changelog
import Clocks
import Foundation
import HealthModel
import MessageBus
import Protocol
import SQLite
import Synchronization

/// Does what a stage requests outside the bus, such as uploading or reading files.
package protocol EffectRunner: AnyObject, Sendable {
    /// Starts the effect on a thread of its own and returns; `reply` may be called once or, for a stream of results,
    /// many times. This blocks while the stage is busy, and returns false when the host is stopping.
    func perform(_ effect: Effect, reply: @escaping @Sendable (EffectResult) -> Bool)
    /// Ends whatever is in progress. Called once, before the host's thread ends.
    func stop()
}

/// Runs one stage in one process, with its thread, its transaction and its bus connection.
package final class StageHost: Sendable {
    enum Input: Sendable {
        case message(Message)
        case answer(PullAnswer)
        /// A result is waiting in `results`.
        case effectIsDone
        case notice(PullNotice)
    }

    private struct Failure {
        var error: (any Error)?
    }

    let instance: String
    let plugin: String
    private let inputs = Mailbox<Input>(capacity: 512)
    /// Results of effects wait here until the stage has room for them, so that a reader can't run ahead of the writer.
    private let results = Mailbox<EffectResult>(capacity: 2)
    private let vitals: Vitals
    private let pulls: Mutex<PullClient>
    private let log: StageLog
    private let stopping = Mutex(false)
    private let failure = Mutex(Failure())

    /// - Parameter configuration: the fingerprint of the configuration that the stage was started with, for its
    ///   heartbeats.
    package init(instance: String, plugin: String, configuration: String? = nil, log: StageLog) {
        (self.instance, self.plugin, self.log) = (instance, plugin, log)
        vitals = Vitals(instance: instance, plugin: plugin, configuration: configuration)
        pulls = Mutex(PullClient(consumer: instance))
    }

    /// Asks the host to finish its turn and end; can be called from any thread.
    package func stop() {
        stopping.withLock { $0 = true }
        inputs.close()
    }

    private func fail(_ error: any Error) {
        failure.withLock { if $0.error == nil { $0.error = error } }
        stop()
    }

    /// Runs until `stop`, on the caller's thread, which owns the stage and its database from then on.
    /// - Throws: why the stage can't continue; everything committed is kept, and a restart continues from there.
    package func run(
        stage: any Stage, database: StageDatabase, address: BusAddress, effects: (any EffectRunner)?,
        source: @escaping @Sendable () throws -> (Database, any PullSource)
    ) throws {
        let turns = try TurnMaker(database, log: log)
        let opening = turns.make()
        try stage.open(opening)
        _ = try opening.commit()
        vitals.update(
            head: database.head, epoch: database.epoch, report: try stage.report(turns.make()), committed: nil)

        let outbox = Outbox(instance: instance)
        let server = pullServer(source, outbox)
        let bus = try connect(to: address, hearing: stage.subscriptions, server, outbox)
        outbox.attach(bus)
        defer {
            // The order matters: an effect that is waiting for room must be released first, and nothing may be sent
            // after the last heartbeat, which reports that this instance has stopped.
            results.close()
            effects?.stop()
            server.close()
            vitals.stop()
            bus.beat()
            bus.close()
        }

        perform(opening.effects, effects)
        var deadline: MonotonicTime? = MonotonicClock.now
        while !stopping.withLock({ $0 }) {
            let inputs = waitForInputs(until: deadline)
            let isStreaming = inputs.contains { if case .effectIsDone = $0 { true } else { false } }
            let turn = turns.make()
            vitals.begin(at: turn.monotonic)
            do {
                deadline = try take(turn, of: stage, inputs, outbox)
                let committed = try turn.commit()
                for message in turn.published { outbox.send(message.topic, message.body) }
                perform(turn.effects, effects)
                let changed = vitals.update(
                    head: database.head, epoch: database.epoch, report: try stage.report(turn),
                    committed: committed ? WallClock.now : nil)
                // Changes in quick succession are reported together; the last of them is reported at once.
                if changed, isStreaming || hasMoreToDo { bus.repace() } else if changed { bus.beat() }
            } catch {
                turn.rollback()
                let messages = inputs.compactMap { if case .message(let message) = $0 { message } else { nil } }
                for message in stage.lastWords(messages) { outbox.send(message.topic, message.body) }
                throw error
            }
            vitals.end()
        }
        if let error = failure.withLock({ $0.error }) { throw error }
        try close(stage, turns.make(), database)
    }

    private func close(_ stage: any Stage, _ turn: Turn, _ database: StageDatabase) throws {
        do {
            try stage.close(turn)
            guard try turn.commit() else { return }
        } catch {
            turn.rollback()
            throw error
        }
        vitals.update(
            head: database.head, epoch: database.epoch, report: try stage.report(turn), committed: WallClock.now)
    }

    /// Answers pulls.
    private func pullServer(
        _ source: @escaping @Sendable () throws -> (Database, any PullSource), _ outbox: Outbox
    ) -> PullServer {
        // Done only once, because rows can only be lost while nobody has the file open. Otherwise a consumer that kept
        // claiming a loss would make all the others look up their rows each time.
        let knowsLostRows = Mutex(false)
        return PullServer(
            instance: instance, log: log, open: source,
            notice: { [inputs] notice in
                let isNew = knowsLostRows.withLock { known in
                    guard case .lostRows = notice else { return true }
                    defer { known = true }
                    return !known
                }
                if isNew { inputs.insist(.notice(notice)) }
            },
            failed: { [self] in fail($0) },
            send: { outbox.answer($0, $1) })
    }

    private func connect(
        to address: BusAddress, hearing subscriptions: [Subscription], _ server: PullServer, _ outbox: Outbox
    ) throws -> BusConnection {
        let pullTopic = PullHeader.topic(instance)
        let pageTopic = PageHeader.topic(instance)
        let ownBeat = Heartbeat.topic(instance)
        let foreign = ForeignWords(log)
        return try BusConnection(
            address: address,
            subscriptions: subscriptions + [.exact(pullTopic), .exact(pageTopic), .exact(ownBeat)],
            handlers: BusConnection.Handlers(
                message: { [self] message in
                    switch message.topic {
                    case pullTopic: server.offer(message)
                    case pageTopic: take(page: message, foreign)
                    case ownBeat: if vitals.heardSelf() { outbox.beat() }
                    default: inputs.offer(.message(message))
                    }
                },
                malformed: { [log] error in log(.messageMalformed, ["why": error.description]) },
                foreign: { foreign.note($0) },
                heartbeat: { [self] in
                    let (unasked, refusals) = pulls.withLock { ($0.foreign, $0.refusals) }
                    var counters = outbox.counters
                    counters.foreign += unasked
                    return vitals.heartbeat(bus: counters, refusals: refusals)
                },
                pace: { [vitals] in vitals.pace },
                answersHello: true,
                refused: { [log] in log(.busRefused, failed: true, ["why": $0]) },
                failed: { [self] in fail($0) }))
    }

    /// Whether something is waiting or has been requested, which means that another turn will soon follow.
    private var hasMoreToDo: Bool { !inputs.isEmpty || pulls.withLock { $0.isWaiting } }

    private func perform(_ asked: [Effect], _ effects: (any EffectRunner)?) {
        for effect in asked {
            effects?.perform(effect) { [self] result in
                guard results.put(result) else { return false }
                inputs.insist(.effectIsDone)
                return true
            }
        }
    }

    /// - Parameter deadline: when the stage wants a turn even if there is no input; nil if it wants one only for input.
    private func waitForInputs(until deadline: MonotonicTime?) -> [Input] {
        let now = MonotonicClock.now
        // The stage gets an occasional turn even without input, because some of its work is due at certain times of
        // day, and no message announces that.
        let regular = Repetition.next(Repetition.quiet, after: now)
        let next = [deadline, pulls.withLock { $0.nextDeadline }, regular].compactMap { $0 }.min() ?? now
        return inputs.take(limit: 64, timeout: max(.zero, next - now).seconds)
    }

    /// Does everything in a turn except the commit.
    /// - Returns: when the stage wants its next turn.
    private func take(
        _ turn: Turn, of stage: any Stage, _ inputs: [Input], _ outbox: Outbox
    ) throws -> MonotonicTime? {
        try handle(inputs, stage: stage, turn: turn, outbox: outbox)
        let deadline = try stage.tick(turn)
        for pull in turn.takePulls() { send(pull, outbox) }
        for id in turn.takeWithdrawn() { pulls.withLock { $0.forget(id) } }
        for again in pulls.withLock({ $0.overdue(at: MonotonicClock.now) }) { outbox.send(again.topic, again.body) }
        return deadline
    }

    /// Assembles the parts of an answer as they arrive, on the bus thread. Only complete answers are queued for the
    /// stage, and no more of them than it has asked for.
    private func take(page: Message, _ foreign: ForeignWords) {
        let (answer, isForeign) = pulls.withLock { pulls in
            let before = pulls.foreign
            let answer = pulls.receive(page.body, from: page.header.from, at: MonotonicClock.now)
            return (answer, pulls.foreign > before)
        }
        if isForeign { foreign.note(page) }
        if let answer { inputs.insist(.answer(answer)) }
    }

    private func send(_ pull: Pull, _ outbox: Outbox) {
        let request = pulls.withLock { $0.begin(pull, at: MonotonicClock.now) }
        outbox.send(request.topic, request.body)
    }

    private func handle(_ batch: [Input], stage: any Stage, turn: Turn, outbox: Outbox) throws {
        for input in batch {
            switch input {
            case .message(let message): try stage.receive(message, turn)
            case .answer(let answer): try stage.receive(answer, turn)
            case .effectIsDone:
                for result in results.take(limit: 1, timeout: 0) { try stage.receive(result, turn) }
            case .notice(.lostRows(let generation)):
                // A consumer has seen rows that this store no longer has: all readers must learn of it.
                guard turn.head.generation == generation else { continue }
                try turn.write().beginGeneration()
            case .notice(.renew(let renewal, let generation)):
                guard turn.head.generation == generation else { continue }
                turn.log(.versionsRenewed, ["windows": renewal.windows.count])
                try stage.renew(renewal, turn)
            }
            for pull in turn.takePulls() { send(pull, outbox) }
        }
    }
}

/// Sends messages under the instance's name. Until the connection exists they are dropped, as they would be on the bus.
final class Outbox: Sendable {
    private let instance: String
    private let bus = Mutex<BusConnection?>(nil)

    init(instance: String) { self.instance = instance }

    func attach(_ connection: BusConnection) { bus.withLock { $0 = connection } }

    func send(_ topic: String, _ body: Value) {
        bus.withLock { $0 }?.send(Message(topic: topic, header: .init(from: instance, at: WallClock.now), body: body))
    }

    /// Sends part of an answer; when the hub has little room, the process's other messages go first.
    func answer(_ topic: String, _ body: Value) {
        let message = Message(topic: topic, header: .init(from: instance, at: WallClock.now), body: body)
        bus.withLock { $0 }?.sendWhenRoom(message)
    }

    func beat() { bus.withLock { $0 }?.beat() }

    var counters: BusConnection.Counters { bus.withLock { $0 }?.counters ?? .init() }
}
