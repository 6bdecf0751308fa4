import BackgroundDelivery
import Changelog
import Configuration
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit

/// Coalesces the observer's fires for each type and releases the changes to their consumers through `sync.<consumer>`:
/// the counterpart of a background sync manager in an app.
///
/// It moves no data: it says how far each consumer may pull. Every release is repeated (`Repetition`), so a lost one
/// only causes delay.
package final class DebouncerStage: Stage {
    package struct Consumer: Sendable, Equatable {
        package enum Role: Sendable { case handler, uploader }

        package var name: String
        /// nil: all types.
        package var types: Set<String>?
        /// Types that a consumer of all types doesn't accept.
        package var except: Set<String>
        /// Other consumers' types whose release triggers this one's sync too.
        package var triggers: Set<String>
        /// Minutes of the local day at which its sync runs.
        package var times: Set<Int> = []
        package var role: Role

        package init(
            name: String, types: Set<String>?, except: Set<String> = [], triggers: Set<String> = [],
            role: Role = .handler
        ) {
            self.name = name
            self.types = types
            self.except = except
            self.triggers = triggers
            self.role = role
        }

        func takes(_ type: String) -> Bool { types?.contains(type) ?? !except.contains(type) }
    }

    let instance: String
    let observer: String
    /// The consolidator, whose tasks also give the app time.
    let consolidator: String?
    let consumers: [Consumer]
    let configuration: DebouncerConfiguration

    var window: ReleaseWindow
    private(set) var head: StoreHead?
    var telling = Telling()
    /// Types that aren't observed, each with the sequence number it was fired up to: nothing beyond that is released.
    var offFired: [String: SequenceNumber] = [:]

    var phone = Phone()
    var registration = Registration()
    /// The pending set as saved.
    var savedPending: [String: SequenceNumber] = [:]

    var tasks: TaskHost
    /// What a running task waits for.
    var work: [DebouncerTask: Work] = [:]
    var toldTasks: (tasks: [ScheduledTask], at: MonotonicTime)?
    var rounds: Rounds
    var ledger = RoundLedger()
    var historical = HistoricalSync()
    /// The observer's head in its last heartbeat: all heads by type up to there are known.
    private(set) var heardHead = SequenceNumber.beginning
    /// The last manual sync requested.
    var manual: ManualSync?
    /// When the next scheduled sync is due.
    var nextTime: Instant?
    /// Questions to the observer, by pull.
    var questions: [Int64: Question] = [:]

    /// When a head moves without anything for a consumer, the consumer learns of it within this time: the news only
    /// advances frontiers.
    private static let spread = Duration.milliseconds(250)

    package init(
        instance: String = "debouncer", observer: String, consolidator: String? = nil, consumers: [Consumer],
        configuration: DebouncerConfiguration, permissions: TaskHost.Permissions
    ) {
        self.instance = instance
        self.observer = observer
        self.consolidator = consolidator
        self.consumers = consumers
        self.configuration = configuration
        window = ReleaseWindow(policy: configuration.policy, released: .beginning)
        rounds = Rounds(patience: configuration.roundPatience)
        tasks = TaskHost(
            TaskScheduler(
                permitted: permissions.tasks, backgroundModes: permissions.backgroundModes,
                launcher: configuration.launcher))
    }

    package var subscriptions: [Subscription] {
        [.prefix("observed."), .exact("control.\(instance)")]
            + ([observer] + [consolidator].compactMap { $0 } + consumers.map(\.name)).map {
                .exact(Heartbeat.topic($0))
            }
    }

    /// - Throws: `DeliveryError` for a task that isn't permitted.
    package func open(_ turn: Turn) throws {
        let database = try turn.write().database
        try Self.kept.create(in: database)
        try TaskHost.createTables(in: database)
        for task in configuration.tasks.sorted(by: { $0.rawValue < $1.rawValue }) {
            try tasks.register(task.rawValue, task.kind)
        }
        try tasks.open(turn)
        registration.launch = (try load("launch", turn)?.int ?? 0) + 1
        try store("launch", .integer(registration.launch), turn)
        if let saved = try load("history", turn) { historical.sync = saved.read().flatMap { History($0) } }
        try ledger.open(turn)
        rounds.goOn(after: ledger.last)
        // Until the observer reports, the phone's last known state applies.
        if let saved = try load("device", turn), let state = DeviceState().updated(from: saved) { phone.device = state }
        window.reach = reachNow
        savedPending = (try load("pending", turn)?.object ?? [:]).compactMapValues { $0.int.map(SequenceNumber.init) }
        if configuration.tasksNeedPower || configuration.tasksNeedIdle { turn.perform(WatchMachine()) }
        guard let saved = try load("released", turn) else { return }
        guard let kept = saved.read(KeptRelease.self) else { throw StageError.unreadableCursor("released") }
        window = ReleaseWindow(policy: window.policy, released: kept.released, collected: savedPending)
        window.reach = reachNow
        head = kept.head
    }

    private static let kept = ValueTable("released")

    func load(_ key: String, _ turn: Turn) throws -> Value? { try Self.kept.value(key, in: turn.database) }

    func store(_ key: String, _ value: Value, _ turn: Turn) throws { try Self.kept.set(key, to: value, turn) }

    package func receive(_ message: Message, _ turn: Turn) throws {
        if let beat = Heartbeat(message) {
            guard beat.instance == observer else { return try hear(beat, turn) }
            guard let new = beat.head else { return }
            try follow(new, turn)
            try learnDevice(beat, turn)
            let fired = beat.observer?.fired
            heardHead = new.sequence
            let isImporting = beat.observer?.importOpen == true
            if isImporting { window.isImporting = true }
            let atOnce = window.heard(head: new.sequence, heads: beat.heads, fired: fired, at: turn.monotonic)
            if !isImporting, window.isImporting { window.endBurst() }
            if !atOnce.isEmpty { try released(atOnce, reason: "fire", turn) }
            for consumer in consumers where passesOn(to: consumer) { tell(consumer, turn) }
        } else if message.topic.hasPrefix("control.") {
            try obey(message.body, turn)
        } else if let fire = message.body.read(Observed.self) {
            try follow(fire.head, turn)
            turn.log(.observerFired, ["type": fire.type, "locked": phone.device.isLocked])
            registration.acknowledgements[fire.type] = max(
                registration.acknowledgements[fire.type] ?? .beginning, fire.sequence)
            if window.changed(fire.type, to: fire.sequence, at: turn.monotonic) {
                try released([fire.type], reason: "fire", turn)
            }
        }
    }

    private func follow(_ new: StoreHead, _ turn: Turn) throws {
        let isReset = head.map { $0.store != new.store || $0.generation != new.generation } ?? false
        if head?.generation != new.generation || new.sequence > head?.sequence ?? .beginning { head = new }
        guard isReset else { return }
        turn.log(.anchorReset, ["upstream": observer, "generation": new.generation])
        try releaseAnew(turn)
    }

    private func releaseAnew(_ turn: Turn) throws {
        window.reset()
        rounds.reset()
        telling.told = [:]
        try save(turn)
    }

    /// Forgets what it has released, and the current historical sync; tasks and settings aren't derived, and stay.
    package func mend(_ request: MendRequest, _ turn: Turn) throws -> Mended {
        guard request.action == "reset" else { return .refused("a debouncer doesn't support '\(request.action)'") }
        try releaseAnew(turn)
        if historical.sync != nil {
            historical.sync = nil
            try store("history", .null, turn)
            finish(.history, success: false, turn)
        }
        return .done([:])
    }

    package func tick(_ turn: Turn) throws -> MonotonicTime? {
        try runTasks(turn)
        try closeWindows(turn)
        try keepPending(turn)
        try finishRounds(turn)
        try replay(turn)
        // Requests waiting for an answer are repeated soon.
        if registration.confirmed != registration.launch || !registration.acknowledgements.isEmpty || toldReplay != nil
        {
            telling.repetition.moved(at: turn.monotonic)
        }
        if turn.monotonic >= telling.repetition.next(after: telling.lastRepeat, at: turn.monotonic)
            || nextTime.map({ turn.now >= $0 }) ?? false
        {
            telling.lastRepeat = turn.monotonic
            telling.lastSpread = turn.monotonic
            register(turn)
            try scheduleTasks(turn)
            try followClock(turn)
            for consumer in consumers { tell(consumer, turn) }
        } else if turn.monotonic - telling.lastSpread >= Self.spread {
            telling.lastSpread = turn.monotonic
            for consumer in consumers where telling.told[consumer.name] != vector(for: consumer) {
                tell(consumer, turn)
            }
        }
        acknowledge(atOnce: telling.lastRepeat == turn.monotonic, turn)
        try tasks.save(turn)
        let spread =
            consumers.contains { telling.told[$0.name] != vector(for: $0) } ? telling.lastSpread + Self.spread : nil
        return [
            window.nextDeadline, telling.repetition.next(after: telling.lastRepeat, at: turn.monotonic), spread,
            nextTime.map { turn.monotonic + max(.zero, $0 - turn.now) }, rounds.nextDeadline,
            tasks.scheduler.nextDeadline(conditions(turn)),
        ].compactMap { $0 }.min()
    }

    private func closeWindows(_ turn: Turn) throws {
        let closed = window.close(at: turn.monotonic)
        guard !closed.isEmpty else { return }
        turn.log(.debounceFinished, ["types": closed.count])
        guard window.reach != .collecting else { return }
        try save(turn)
        try released(closed, reason: "fire", turn)
    }

    /// Announces released types to the consumers concerned, including the types of consumers that these trigger.
    func released(_ types: [String], reason: String, _ turn: Turn) throws {
        var types = Set(types)
        for consumer in consumers where !consumer.triggers.isDisjoint(with: types) {
            let more = window.releaseEverything(of: consumer.takes)
            guard !more.isEmpty else { continue }
            types.formUnion(more)
            try save(turn)
        }
        let concerned = consumers.filter { types.contains(where: $0.takes) }
        for consumer in concerned { tell(consumer, turn) }
        open(roundOf: concerned, reason: reason, turn)
    }

    @discardableResult
    func open(roundOf concerned: [Consumer], reason: String, _ turn: Turn) -> Int64 {
        let targets = Dictionary(uniqueKeysWithValues: concerned.map { ($0.name, vector(for: $0)) })
        for name in targets.keys.sorted() { turn.log(.syncMetric, ["consumer": name, "outcome": "starting"]) }
        return rounds.release(targets, reason: reason, now: turn.now, monotonic: turn.monotonic)
    }

    func tell(_ consumer: Consumer, _ turn: Turn) {
        guard let head else { return }
        let released = vector(for: consumer)
        if telling.told.updateValue(released, forKey: consumer.name) != released {
            telling.repetition.moved(at: turn.monotonic)
        }
        turn.publish(
            Release.topic(consumer.name),
            Release(
                head: head, released: released, off: window.off.filter(consumer.takes).sorted(), replay: toldReplay))
    }

    func vector(for consumer: Consumer) -> AnchorVector {
        var exceptions = window.released.exceptions.filter { consumer.takes($0.key) }
        for (type, fired) in offFired where consumer.takes(type) {
            exceptions[type] = min(window.released[type], fired)
        }
        if passesOn(to: consumer) {
            // Types whose windows are still open count as unreleased only for other consumers.
            exceptions = exceptions.filter { window.off.contains($0.key) }
            for type in window.off where consumer.takes(type) {
                exceptions[type] = exceptions[type] ?? window.released[type]
            }
        }
        return AnchorVector(base: window.released.base, exceptions: exceptions)
    }

    /// Whether a consumer gets samples while the file that they come from is still being read. Days would be computed
    /// again for each part of the file; delivering a sample early costs nothing, and the import leaves the machine time
    /// for it.
    private func passesOn(to consumer: Consumer) -> Bool {
        consumer.role == .uploader && window.isImporting && window.reach == .everything
    }

    func save(_ turn: Turn) throws {
        guard let head else { return }
        try store("released", Value(KeptRelease(head: head, released: window.released)), turn)
    }

    package func report(_ turn: Turn) throws -> StageReport {
        var common = StageDetails()
        common.tasks = toldTasks?.tasks
        let own = DebouncerDetails(
            pending: window.pendingTypes.count, manual: manual?.details(rounds), history: historical.sync?.details)
        return StageReport(
            frontier: [observer: window.released.minimum], details: HeartbeatDetails(own, common))
    }
}

/// How far each type is released, as stored in the stage's file.
private struct KeptRelease: Codable {
    var head: StoreHead?
    var released: AnchorVector
}
