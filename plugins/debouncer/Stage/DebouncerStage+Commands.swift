import BackgroundDelivery
import Changelog
import HealthModel
import MessageBus
import Protocol
import StageKit

/// A requested sync, and its outcome.
struct ManualSync: Sendable, Equatable {
    var id: String
    /// The round whose end shows that everything has been consumed; nil while nothing may be released.
    var round: Int64?
    /// Why nothing is released; nil when something is.
    var problem: String?
    var result: Rounds.Round?

    func details(_ rounds: Rounds) -> DebouncerDetails.Manual {
        DebouncerDetails.Manual(
            id: id, problem: problem, round: round, waiting: round.flatMap(rounds.waiting), result: result?.result)
    }
}

extension DebouncerStage {
    /// What was asked of the observer, and why.
    enum Question: Equatable {
        case zones
        /// The oldest sample, for a historical sync of everything, with the command's id and strategy.
        case oldest(String, TaskRequest.Strategy)
    }

    /// Commands are hints: repeating them changes nothing.
    func obey(_ command: Value, _ turn: Turn) throws {
        if tasks.receive(command, conditions(turn), turn) { return }
        if let asked = WakeApp(command) { return try wake(asked, turn) }
        guard let asked = SyncNow(command) else { return }
        if let span = asked.history {
            let strategy = asked.strategy.flatMap(TaskRequest.Strategy.init(rawValue:)) ?? .queue
            try beginHistory(asked.id, span, strategy, turn)
        } else {
            // The sender knows of a newer head than this stage has heard of: it asks again until this stage has heard
            // of that head too.
            if let head = asked.head, head > heardHead ?? .beginning { return }
            try sync(asked.id, metric: asked.metric, turn)
        }
    }

    /// Closes the windows of a metric, or of all, and releases everything that the observer has for it.
    private func sync(_ id: String, metric: String?, _ turn: Turn) throws {
        guard manual?.id != id else { return }
        var new = ManualSync(id: id)
        let concerned = consumers.filter { metric == nil || $0.name == metric || $0.role == .uploader }
        let owners = concerned.filter { metric == nil || $0.role == .handler }
        if phone.device.isLocked {
            new.problem = Self.locked
        } else if phone.device.app == .forceQuit {
            new.problem = Self.forceQuit
        } else if owners.isEmpty {
            new.problem = "there is no such metric"
        } else {
            new.round = try releaseAll(to: concerned, of: owners, reason: "sync", turn).round
        }
        manual = new
    }

    static let locked = "the device is locked: the health data can't be read until it is unlocked"
    static let forceQuit = "the app was force-quit: nothing runs until its user opens it"

    /// Closes the windows of some consumers' types, or of all, and releases everything that the observer has of them.
    /// - Parameter owners: the consumers with these types; nil for `concerned`.
    func releaseAll(
        to concerned: [Consumer], of owners: [Consumer]? = nil, reason: String, _ turn: Turn
    ) throws -> (moved: [String], round: Int64) {
        let owners = owners ?? concerned
        let moved = window.releaseEverything { type in owners.contains { $0.takes(type) } }
        if !moved.isEmpty { try save(turn) }
        for consumer in concerned { announce(consumer, turn) }
        return (moved, open(roundOf: concerned, reason: reason, turn))
    }

    func askZones(_ turn: Turn) {
        guard !questions.values.contains(.zones) else { return }
        let pull = turn.pull(observer, .zones, PullPlace(after: .beginning))
        questions[pull.id] = .zones
    }

    package func receive(_ answer: PullAnswer, _ turn: Turn) throws {
        guard let question = questions.removeValue(forKey: answer.pull.id) else { return }
        guard case .pages(let pages) = answer.result else { return }
        switch question {
        case .zones:
            let page: ZonesPage? = try pages.last?.page(from: observer)
            for (user, entries) in page?.zones ?? [:] {
                guard let timeline = try ZoneTimeline(wireValue: entries) else {
                    throw StageError.unreadablePage(producer: observer)
                }
                phone.zones[user] = timeline
            }
            nextTime = nil
        case .oldest(let id, let strategy):
            let pages: [TypesPage] = try pages.map { try $0.page(from: observer) }
            let starts = pages.flatMap(\.types).compactMap(\.firstStart)
            guard let oldest = starts.min() else {
                manual = ManualSync(id: id, problem: "the store holds no samples yet")
                return
            }
            let day = phone.zones.values.map { $0.day(of: oldest) }.min()
            if let day { try begin(historyFrom: day, id: id, strategy, turn) }
        }
    }
}
