import BackgroundDelivery
import Changelog
import HealthModel
import Protocol
import StageKit

extension DebouncerStage {
    /// What a running task waits for before it completes.
    enum Work: Equatable {
        /// The end of a round.
        case round(Int64)
        /// The uploaders' delivery of what was released.
        case uploaders
        case history
    }

    func request(_ task: DebouncerTask, earliest: Instant?) -> TaskRequest {
        TaskRequest(
            task.rawValue, earliestBegin: earliest, requiresNetwork: configuration.tasksNeedNetwork,
            requiresPower: configuration.tasksNeedPower)
    }

    /// Begins the tasks that may begin, ends those that must end, and completes those that are done.
    func runTasks(_ turn: Turn) throws {
        let moves = tasks.due(conditions(turn), turn)
        for identifier in moves.ended { try drop(identifier, turn) }
        for identifier in moves.expiring {
            // Everything is left unchanged; the next run continues.
            tasks.complete(identifier, success: false, conditions(turn), turn)
            if let task = DebouncerTask(rawValue: identifier) { work[task] = nil }
        }
        for task in moves.begun.compactMap(DebouncerTask.init(rawValue:)) { try begin(task, turn) }
        if work.values.contains(.uploaders), areUploadersLevel { finish(.uploaders, success: true, turn) }
        try adaptReach(turn, reason: "task")
        if !moves.isEmpty || turn.monotonic - (reportedTasks?.at ?? .distantPast) >= .seconds(1) {
            reportedTasks = (tasks.scheduler.tasks(conditions(turn)), turn.monotonic)
        }
    }

    private func begin(_ task: DebouncerTask, _ turn: Turn) throws {
        // Its next run is submitted first, so that there is one, whatever happens to this run.
        if let earliest = nextBegin(task, turn) {
            try tasks.submit(request(task, earliest: earliest), conditions(turn), turn)
        }
        window.reach = reachNow
        switch task {
        case .healthkitSync, .catchUp, .refresh: try sync(task, consumers, turn)
        case .dailyEnergy:
            askZones(turn)
            try sync(task, consumers.filter { $0.name == "energy" }, turn)
        case .remoteSync:
            _ = window.releaseEverything()
            for consumer in consumers { announce(consumer, turn) }
            work[task] = .uploaders
        case .notificationCheck:
            try checkRounds(turn)
            tasks.complete(task.rawValue, success: true, conditions(turn), turn)
        case .historical: work[task] = .history
        }
    }

    /// Releases everything that the given consumers may pull now, and waits for them.
    private func sync(_ task: DebouncerTask, _ concerned: [Consumer], _ turn: Turn) throws {
        guard window.reach != .nothing else {
            return tasks.complete(task.rawValue, success: false, conditions(turn), turn)
        }
        _ = window.releaseEverything { type in concerned.contains { $0.takes(type) } }
        try save(turn)
        for consumer in concerned { announce(consumer, turn) }
        work[task] = .round(open(roundOf: concerned, reason: task.rawValue, turn))
    }

    func finish(_ done: Work, success: Bool, _ turn: Turn) {
        for (task, what) in work.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where what == done {
            work[task] = nil
            tasks.complete(task.rawValue, success: success, conditions(turn), turn)
        }
    }

    private func drop(_ identifier: String, _ turn: Turn) throws {
        guard let task = DebouncerTask(rawValue: identifier) else { return }
        work[task] = nil
        guard task == .historical, historical.sync != nil else { return }
        historical.sync = nil
        try store("history", .null, turn)
    }

    private var areUploadersLevel: Bool {
        consumers.allSatisfy { $0.role != .uploader || rounds.hasReached($0.name, vector(for: $0)) }
    }

    /// The earliest start of a repeating task; nil for one that doesn't repeat, or whose time isn't known yet.
    private func nextBegin(_ task: DebouncerTask, _ turn: Turn) -> Instant? {
        if task == .dailyEnergy {
            guard let hour = configuration.dailyEnergyHour else { return nil }
            return phone.zones.values.compactMap { $0.next(minute: hour * 60 + 1, after: turn.now) }.min()
        }
        return configuration.intervals[task].map { turn.now + $0 }
    }

    /// Makes sure that each repeating task is pending, at each launch and whenever one isn't.
    func scheduleTasks(_ turn: Turn) throws {
        for task in configuration.tasks
        where task.isRepeating && tasks.isToBeSubmitted(task.rawValue) {
            if task == .dailyEnergy, phone.zones.isEmpty { askZones(turn) }
            guard let earliest = nextBegin(task, turn) else { continue }
            try tasks.submit(request(task, earliest: earliest), conditions(turn), turn)
        }
        // A historical sync that was in progress continues.
        if let history = historical.sync, !tasks.scheduler.isPending(DebouncerTask.historical.rawValue),
            work[.historical] == nil,
            phone.device.app == .active
        {
            try submit(history, .queue, turn)
        }
        if historical.sync != nil, phone.zones.isEmpty { askZones(turn) }
    }
}

extension DebouncerTask {
    var isRepeating: Bool { self != .healthkitSync && self != .historical }
}
