import Changelog
import Foundation
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit

/// A stage's process in the simulation: The turns of a `StageHost` without its threads, on a file of its own, to be
/// killed and started at will.
package final class SimulatedHost {
    package enum Input {
        case message(Message)
        case answer(PullAnswer)
        case effect(EffectResult)
        case notice(PullNotice)
    }

    /// One life of the process: everything that a crash destroys.
    private final class Life {
        let database: StageDatabase
        let changelog: KeyedChangelog
        let stage: any Stage
        let identifiers: Turn.Identifiers
        /// Reads alongside the writer; set once the stage has created its tables.
        var service: (reader: Database, source: any PullSource)?
        var pulls: PullClient
        var inputs: [Input] = []
        var head: StoreHead?
        var report = StageReport()
        var lastCommit: Instant?
        var knowsLostRows = false
        var repetition: Repetition

        init(_ host: SimulatedHost, path: String, now: Instant) throws {
            if host.world.isSteady {
                let connection = try host.memory ?? Database(path: ":memory:")
                host.memory = connection
                database = try StageDatabase(connection)
            } else {
                database = try StageDatabase(path: path)
                if !host.world.isDurable { try database.database.execute("PRAGMA synchronous=OFF") }
            }
            let database = database
            try database.transaction {
                try KeyedChangelog.createTables(in: database.database)
                try Upstream.createTables(in: database.database)
            }
            changelog = try KeyedChangelog(database)
            stage = try host.makeStage()
            identifiers = Turn.Identifiers(
                startingAt: now.microseconds, random: host.world.random(for: host.name, host.lives))
            repetition = Repetition(at: host.world.monotonic)
            pulls = PullClient(consumer: host.name)
        }
    }

    package let name: String
    package let plugin: String
    package let path: String
    /// Makes the process's stage when it starts; a swap puts another in its place.
    package var makeStage: () throws -> any Stage
    /// Makes what answers its pulls when it starts.
    package var makeSource: (Database) throws -> any PullSource
    private unowned let world: SimulatedWorld
    private var life: Life?
    /// Rises with each start: anything that belongs to an earlier life is ignored.
    package private(set) var lives = 0
    package private(set) var isTurnDue = false
    /// How many turns it has taken, and how many of them committed something.
    package private(set) var work = (turns: 0, commits: 0)
    private var wake = 0
    private var beats = 0
    /// Whether a heartbeat that reports a change has been scheduled; only in a steady world.
    private var isBeatDue = false
    private static let moment = Duration.milliseconds(100)
    /// Whether the process exists but gets no time: messages to it wait in its sockets as long as there is room.
    package private(set) var isSuspended = false
    private var parked: [Message] = []
    /// What takes the place of the file in a steady world: a database in memory, which outlives the process, and which
    /// pulls read between turns. Months in which the phone ends the app several times a day would otherwise consist
    /// mostly of opening files, and of reading again what another connection wrote.
    private var memory: Database?

    /// How many messages can wait for a suspended process; any beyond that are dropped, as a socket would do.
    private static let highWaterMark = 64

    package init(
        _ name: String, plugin: String, in world: SimulatedWorld,
        source: @escaping (Database) throws -> any PullSource = { ChangelogSource(database: $0) },
        stage: @escaping () throws -> any Stage
    ) {
        (self.name, self.plugin, self.world) = (name, plugin, world)
        path = world.folder.path + "/\(name).sqlite"
        makeStage = stage
        makeSource = source
    }

    package var isRunning: Bool { life != nil }
    package var isAwake: Bool { life != nil && !isSuspended }
    package var stage: (any Stage)? { life?.stage }
    package var reader: Database? { life?.service?.reader }

    package func start() throws {
        lives += 1
        isTurnDue = false
        let new = try Life(self, path: path, now: world.now)
        let turn = turn(of: new)
        try new.stage.open(turn)
        _ = try turn.commit()
        let reader = try memory ?? Database(path: path, mode: .readOnly)
        new.service = (reader, try makeSource(reader))
        new.head = new.database.head
        new.report = try new.stage.report(self.turn(of: new))
        life = new
        for effect in turn.effects { world.perform(effect, of: self) }
        isSuspended = false
        parked = []
        rouse()
    }

    /// Resumes heartbeats and turns.
    package func rouse() {
        guard isAwake else { return }
        beats += 1
        world.schedule(.beat(self, number: beats), after: .zero)
        scheduleTurn(after: .zero)
    }

    package func suspend() {
        guard life != nil else { return }
        isSuspended = true
    }

    package func resume() {
        guard isSuspended else { return }
        isSuspended = false
        isTurnDue = false
        let waiting = parked
        parked = []
        for message in waiting { world.schedule(.deliver(self, message), after: .zero) }
        rouse()
    }

    func beatAgain(_ number: Int) {
        guard number == beats else { return }
        isBeatDue = false
        guard isAwake, world.isHeard(self), let life else { return }
        beat()
        guard !world.isSteady else { return }
        let now = world.monotonic
        world.schedule(.beat(self, number: number), after: life.repetition.next(after: now, at: now) - now)
    }

    /// Ends the process, which loses everything that is uncommitted or in memory.
    package func crash() {
        world.closeFile(self) {
            life?.database.rollback()
            life = nil
        }
    }

    /// Crashes the process, and loses its file too.
    package func wipe() throws {
        crash()
        memory = nil
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    private func turn(of life: Life) -> Turn {
        Turn(
            now: world.now, monotonic: world.monotonic, log: world.log(name), stage: life.database,
            changelog: life.changelog, identifiers: life.identifiers)
    }

    package func hears(_ topic: String) -> Bool {
        guard let life else { return false }
        return topic == "pull.\(name)" || topic == "page.\(name)"
            || life.stage.subscriptions.contains { $0.matches(topic) }
    }

    package func deliver(_ message: Message) throws {
        guard let life else { return }
        guard world.trust?(message) != false else { return world.note("foreign") }
        if isSuspended {
            if parked.count < Self.highWaterMark { parked.append(message) }
            return
        }
        if message.topic == "pull.\(name)" {
            guard let (reader, source) = life.service else { return }
            let service = PullService(
                instance: name, log: world.log(name), notice: { life.inputs.append(.notice($0)) },
                send: { [world, name] in world.send($0, $1, from: name) })
            try service.serve(message.body, reader, source)
            if !life.inputs.isEmpty { scheduleTurn(after: world.latency()) }
        } else {
            guard message.topic == "page.\(name)" else { return take(.message(message)) }
            let sender = message.header.from
            if let answer = life.pulls.receive(message.body, from: sender, at: world.monotonic) {
                take(.answer(answer))
            }
        }
    }

    package func take(_ input: Input) {
        guard let life else { return }
        life.inputs.append(input)
        scheduleTurn(after: world.latency())
    }

    private func scheduleTurn(after delay: Duration) {
        guard !isTurnDue, !isSuspended else { return }
        isTurnDue = true
        world.schedule(.turn(self, life: lives), after: delay)
    }

    package func wakeUp(_ number: Int) {
        if number == wake, life != nil { scheduleTurn(after: .zero) }
    }

    /// Runs one turn as `StageHost` does: the inputs, a tick, the commit, and only then the messages to send.
    /// - Parameter crash: where in the turn the process ends, if it does: the caller ends it.
    package func runTurn(crash point: SimulatedWorld.CrashPoint?) throws {
        guard let life else { return }
        isTurnDue = false
        let inputs = life.inputs
        life.inputs = []
        let turn = turn(of: life)
        do { try run(turn, of: life, inputs, crash: point) } catch {
            turn.rollback()
            let messages = inputs.compactMap { if case .message(let message) = $0 { message } else { nil } }
            for message in life.stage.lastWords(messages) { world.send(message.topic, message.body, from: name) }
            throw error
        }
    }

    private func run(
        _ turn: Turn, of life: Life, _ inputs: [Input], crash point: SimulatedWorld.CrashPoint?
    ) throws {
        for input in inputs {
            switch input {
            case .message(let message): try life.stage.receive(message, turn)
            case .answer(let answer): try life.stage.receive(answer, turn)
            case .effect(let result): try life.stage.receive(result, turn)
            case .notice(.lostRows(let generation)):
                guard turn.head.generation == generation, !life.knowsLostRows else { continue }
                life.knowsLostRows = true
                try turn.write().beginGeneration()
            case .notice(.renew(let renewal, let generation)):
                guard turn.head.generation == generation else { continue }
                try life.stage.renew(renewal, turn)
            }
            sendPulls(of: turn, life)
        }
        let deadline = try life.stage.tick(turn)
        sendPulls(of: turn, life)
        for id in turn.takeWithdrawn() { life.pulls.forget(id) }
        for again in life.pulls.overdue(at: world.monotonic) { world.send(again.topic, again.body, from: name) }
        if point == .beforeCommit { return }
        let committed = try turn.commit()
        work = (work.turns + 1, work.commits + (committed ? 1 : 0))
        if point == .afterCommit { return }
        for message in turn.published.prefix(world.some(of: turn.published.count, if: point == .amongMessages)) {
            world.send(message.topic, message.body, from: name)
        }
        if point == .amongMessages { return }
        for effect in turn.effects.prefix(world.some(of: turn.effects.count, if: point == .amongEffects)) {
            world.perform(effect, of: self)
        }
        if point == .amongEffects { return }
        let report = try life.stage.report(turn)
        let changed = life.head != life.database.head || report.differs(from: life.report)
        life.head = life.database.head
        life.report = report
        if committed { life.lastCommit = world.now }
        if committed || !turn.effects.isEmpty { world.lastWork = world.monotonic }
        if changed { reportChange(life) }
        wake += 1
        // A real host occasionally takes a turn without cause; here it doesn't if nobody is listening.
        let regular = world.isHeard(self) ? Repetition.next(Repetition.quiet, after: world.monotonic) : nil
        guard let next = [deadline, life.pulls.nextDeadline, regular].compactMap({ $0 }).min(), next < .distantFuture
        else {
            return
        }
        world.schedule(.wake(self, number: wake), after: max(.milliseconds(1), next - world.monotonic))
    }

    /// Sends heartbeats about a change: one at once and another soon after, no matter when the next one would have been
    /// due. In a steady world, a single heartbeat reports all changes within a moment.
    private func reportChange(_ life: Life) {
        life.repetition.moved(at: world.monotonic)
        if world.isSteady {
            guard !isBeatDue else { return }
            isBeatDue = true
        } else {
            beat()
        }
        beats += 1
        world.schedule(.beat(self, number: beats), after: world.isSteady ? Self.moment : Repetition.lively)
    }

    private func sendPulls(of turn: Turn, _ life: Life) {
        for pull in turn.takePulls() {
            let request = life.pulls.begin(pull, at: world.monotonic)
            world.send(request.topic, request.body, from: name)
        }
    }

    package func beat() {
        guard let beat = heartbeat else { return }
        let message = beat.message(at: world.now)
        world.send(message.topic, message.body, from: name)
    }

    /// The instance's state as of its last commit; nil while it is down.
    package var heartbeat: Heartbeat? {
        guard let life else { return nil }
        return Heartbeat(
            instance: name, plugin: plugin, phase: .ready, pid: lives, epoch: life.database.epoch, head: life.head,
            heads: life.report.heads, frontier: life.report.frontier, lastCommit: life.lastCommit,
            details: life.report.allDetails)
    }
}
