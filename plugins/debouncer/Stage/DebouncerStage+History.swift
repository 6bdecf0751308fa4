import BackgroundDelivery
import Changelog
import HealthModel
import MessageBus
import Protocol
import StageKit

extension DebouncerStage {
    /// `"history"` is a number of days, or "all"; the command is repeated until its effect shows.
    func beginHistory(_ id: String, _ span: Value, _ strategy: TaskRequest.Strategy, _ turn: Turn) throws {
        guard manual?.id != id else { return }
        if historical.sync != nil {
            manual = ManualSync(
                id: id, problem: "a historical sync is in progress; 'healthbus tasks cancel historical' ends it")
            return
        }
        guard phone.device.app == .active else {
            manual = ManualSync(id: id, problem: "a historical sync begins in the foreground: open the app first")
            return
        }
        guard let today = phone.zones.values.map({ $0.day(of: turn.now) }).max() else { return askZones(turn) }
        if let days = span.int, days > 0 {
            try begin(historyFrom: today.adding(days: 1 - Int(min(days, 100_000))), id: id, strategy, turn)
        } else if !questions.values.contains(.oldest(id, strategy)) {
            questions[turn.pull(observer, .types).id] = .oldest(id, strategy)
        }
    }

    func begin(historyFrom day: LocalDay, id: String, _ strategy: TaskRequest.Strategy, _ turn: Turn) throws {
        guard let today = phone.zones.values.map({ $0.day(of: turn.now) }).max() else { return }
        let number = (try load("histories", turn)?.int ?? 0) + 1
        try store("histories", .integer(number), turn)
        let new = History(number: number, from: day, through: today, began: turn.now)
        manual = ManualSync(id: id)
        do {
            try submit(new, strategy, turn)
        } catch let error as DeliveryError {
            manual?.problem = error.description
            return
        }
        historical.sync = new
        try store("history", Value(new.details), turn)
        turn.log(.historyStarted, ["chunks": new.chunks, "from": day.description])
    }

    func submit(_ history: History, _ strategy: TaskRequest.Strategy, _ turn: Turn) throws {
        let request = TaskRequest(
            DebouncerTask.historical.rawValue, title: "Historical sync",
            subtitle: "\(history.from) to \(history.through)", strategy: strategy,
            resources: configuration.tasksNeedNetwork ? [.network] : nil)
        try tasks.submit(request, conditions(turn), turn)
    }

    /// The current chunk, for each consumer's next message; nil when there is none.
    var announcedReplay: Replay? {
        guard work[.historical] == .history, window.reach != .nothing, let chunk = historical.sync?.chunk,
            historical.announcedChunk == chunk.id,
            !phone.zones.isEmpty
        else {
            return nil
        }
        let users = ReplayUsers.spans(from: chunk.from, through: chunk.through, phone.zones)
        return Replay(
            id: chunk.id, from: chunk.from.description, through: chunk.through.description, users: users)
    }

    /// Handles a consumer's report of how much of the chunk is left.
    func heardReplay(_ beat: Heartbeat, _ turn: Turn) throws {
        guard work[.historical] == .history, let replay = beat.stage.replay, replay.left == 0
        else { return }
        guard historical.sync?.heard(beat.instance, hasDone: replay.id, of: Set(consumers.map(\.name))) == true,
            let now = historical.sync
        else { return }
        tasks.report(
            TaskProgress(done: Int64(now.done), total: Int64(now.chunks)), of: DebouncerTask.historical.rawValue)
        try store("history", now.isDone ? .null : Value(now.details), turn)
        if now.isDone {
            historical.sync = nil
            turn.log(.historyCompleted, ["chunks": now.chunks])
            finish(.history, success: true, turn)
        } else {
            historical.announcedChunk = nil
        }
    }

    /// Begins the next chunk once live data has been consumed: today never waits for the past.
    func replay(_ turn: Turn) throws {
        guard work[.historical] == .history, let chunk = historical.sync?.chunk, historical.announcedChunk != chunk.id,
            rounds.open == nil,
            !phone.zones.isEmpty
        else {
            return
        }
        historical.announcedChunk = chunk.id
        for consumer in consumers { announce(consumer, turn) }
    }
}
