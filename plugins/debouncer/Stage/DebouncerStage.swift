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
/// It moves no data; it only says how far each consumer may pull. Every release is repeated (`Repetition`), so a lost
/// one only causes delay.
package final class DebouncerStage: Stage {
    let instance: String
    let observer: String
    /// The consolidator, whose tasks also give the app time to run.
    let consolidator: String?
    let consumers: [Consumer]
    let configuration: DebouncerConfiguration

    var window: ReleaseWindow
    private(set) var head: StoreHead?
    var announcements = Announcements()
    /// Types that aren't observed, each with the sequence number up to which it was fired: nothing beyond that is
    /// released.
    var offFired: [String: SequenceNumber] = [:]

    var phone = Phone()
    var registration = Registration()
    /// The pending set as saved.
    var savedPending: [String: SequenceNumber] = [:]

    var tasks: TaskHost
    /// What a running task waits for.
    var work: [DebouncerTask: Work] = [:]
    var reportedTasks: (tasks: [ScheduledTask], at: MonotonicTime)?
    var rounds: Rounds
    var ledger = RoundLedger()
    var historical = HistoricalSync()
    /// The observer's head in its last heartbeat, up to which the heads of all types are known; nil before the first.
    private(set) var heardHead: SequenceNumber?
    /// The last manual sync requested.
    var manual: ManualSync?
    var wakes = Wakes()
    /// When the next scheduled sync is due.
    var nextTime: Instant?
    /// Questions to the observer, by pull.
    var questions: [Int64: Question] = [:]

    /// A head that moves without anything new for a consumer only advances frontiers; the consumer learns of it within
    /// this time.
    private static let spread = Duration.milliseconds(250)

    package init(
        instance: String = "debouncer", observer: String, consolidator: String? = nil, consumers: [Consumer],
        configuration: DebouncerConfiguration, permissions: TaskHost.Permissions
    ) {
        (self.instance, self.observer, self.consolidator) = (instance, observer, consolidator)
        (self.consumers, self.configuration) = (consumers, configuration)
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
        try ledger.open(consumers: Set(consumers.map(\.name)), turn)
        try openWakes(turn)
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
            for consumer in consumers where passesOn(to: consumer) { announce(consumer, turn) }
        } else if message.topic.hasPrefix("control.") {
            try obey(message.body, turn)
        } else if let fire = message.body.read(Observed.self) {
            try follow(fire.head, turn)
            // Only the observer knows what the device was like at that moment: here its state arrives afterwards.
            turn.log(.observerFired, ["type": HealthType.logged(fire.type)])
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
        try releaseAgain(turn)
    }

    private func releaseAgain(_ turn: Turn) throws {
        window.reset()
        rounds.reset()
        // Whoever still waits for one asks again, and gets a round of the new store.
        wakes.recent.removeAll { wakes.rounds[$0.id] != nil }
        wakes.rounds = [:]
        announcements.sent = [:]
        try save(turn)
    }

    /// Forgets what it has released, and the current historical sync; tasks and settings aren't derived data, so they
    /// stay.
    package func repair(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        guard request.action == "reset" else { return .refused("a debouncer doesn't support '\(request.action)'") }
        try releaseAgain(turn)
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
        if registration.confirmed != registration.launch || !registration.acknowledgements.isEmpty
            || announcedReplay != nil
        {
            announcements.repetition.moved(at: turn.monotonic)
        }
        if turn.monotonic >= announcements.repetition.next(after: announcements.lastRepeat, at: turn.monotonic)
            || nextTime.map({ turn.now >= $0 }) ?? false
        {
            announcements.lastRepeat = turn.monotonic
            announcements.lastSpread = turn.monotonic
            register(turn)
            try scheduleTasks(turn)
            try followClock(turn)
            // Who has reached it needs no repetition for now.
            let isQuiet = announcements.repetition.interval(at: turn.monotonic) == Repetition.quiet
            for consumer in consumers where isQuiet || needsRepetition(consumer) { announce(consumer, turn) }
        } else if turn.monotonic - announcements.lastSpread >= Self.spread {
            announcements.lastSpread = turn.monotonic
            for consumer in consumers where isBehind(consumer) { announce(consumer, turn) }
        }
        acknowledge(atOnce: announcements.lastRepeat == turn.monotonic, turn)
        try tasks.save(turn)
        let spread = consumers.contains(where: isBehind) ? announcements.lastSpread + Self.spread : nil
        return [
            window.nextDeadline, announcements.repetition.next(after: announcements.lastRepeat, at: turn.monotonic),
            spread,
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

    func save(_ turn: Turn) throws {
        guard let head else { return }
        try store("released", Value(KeptRelease(head: head, released: window.released)), turn)
    }

    package func report(_ turn: Turn) throws -> StageReport {
        var common = StageDetails()
        common.tasks = reportedTasks?.tasks
        let own = DebouncerDetails(
            pending: window.pendingTypes.count, manual: manual?.details(rounds), history: historical.sync?.details,
            wakes: wakes.recent.isEmpty ? nil : wakes.recent)
        return StageReport(
            frontier: [observer: window.released.minimum], details: HeartbeatDetails(own, common))
    }
}

/// How far each type has been released, as stored in the stage's file.
private struct KeptRelease: Codable {
    var head: StoreHead?
    var released: AnchorVector
}
