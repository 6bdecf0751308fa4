import BackgroundDelivery
import Changelog
import Configuration
import HealthModel
import Logging
import Protocol
import SQLite

/// Handles a stage's scheduled tasks: their rows in the stage's file (written in the turn that changes them), the
/// commands that concern them, and the log.
package struct TaskHost {
    package private(set) var scheduler: TaskScheduler
    /// The tasks as stored in the file.
    private var saved: [String: KeptTask] = [:]
    private var isChanged = false
    /// Tasks that were cancelled by hand while they were pending: their host doesn't submit them again on its own
    /// before it is restarted.
    private var cancelled: Set<String> = []

    /// The tasks that have begun, must end or were terminated since the last check.
    package struct Moves: Sendable, Equatable {
        package var begun: [String] = []
        /// Their expiration handlers are called, so that they can save their work and complete.
        package var expiring: [String] = []
        /// They didn't complete, and were terminated.
        package var ended: [String] = []

        package var isEmpty: Bool { begun.isEmpty && expiring.isEmpty && ended.isEmpty }
    }

    private var moves = Moves()

    package init(_ scheduler: TaskScheduler) { self.scheduler = scheduler }

    private static let table = ValueTable("tasks", key: "id")

    package static func createTables(in database: Database) throws { try table.create(in: database) }

    private static func rows(in database: Database) throws -> [String: KeptTask] {
        var rows: [String: KeptTask] = [:]
        try table.forEach(in: database) { rows[$0] = $1.read() }
        return rows
    }

    /// The tasks in a file, by id.
    package static func tasks(in database: Database) throws -> [ScheduledTask] {
        try rows(in: database).sorted { $0.key < $1.key }.map { ScheduledTask(id: $0, kept: $1) }
    }

    package mutating func register(_ identifier: String, _ kind: TaskKind) throws {
        try scheduler.register(identifier, kind)
    }

    /// Loads the tasks' requests and histories; called once all tasks have been registered.
    package mutating func open(_ turn: Turn) throws {
        saved = try Self.rows(in: turn.database)
        scheduler.restore(saved)
        isChanged = true
    }

    /// - Throws: `DeliveryError`.
    package mutating func submit(_ request: TaskRequest, _ conditions: TaskConditions, _ turn: Turn) throws {
        guard scheduler.request(request.identifier) != request else { return }
        try scheduler.submit(request, conditions)
        isChanged = true
        turn.log(
            .taskScheduled,
            ["task": request.identifier, "earliest": request.earliestBegin.map { InstantText.iso8601($0) } ?? "now"])
    }

    package mutating func complete(
        _ identifier: String, success: Bool, _ conditions: TaskConditions, _ turn: Turn
    ) {
        guard scheduler.complete(identifier, success: success, conditions) else { return }
        noteEnd(identifier, turn)
    }

    private mutating func noteEnd(_ identifier: String, _ turn: Turn) {
        isChanged = true
        let history = scheduler.history(identifier)
        let outcome = history.lastOutcome ?? .failed
        let event: LogEvent = outcome == .expired || outcome == .overran ? .taskExpired : .taskCompleted
        turn.log(
            event,
            [
                "task": identifier, "outcome": outcome.rawValue,
                "seconds": Duration.microseconds(history.lastDuration).seconds,
            ])
    }

    /// Whether its host should submit a task: the task is neither pending nor running, and hasn't been cancelled.
    package func isToBeSubmitted(_ identifier: String) -> Bool {
        !scheduler.isPending(identifier) && !scheduler.isRunning(identifier) && !cancelled.contains(identifier)
    }

    /// Notes that there is a new reason to submit a task that had been canceled.
    package mutating func forgive(_ identifier: String) { cancelled.remove(identifier) }

    package mutating func report(_ progress: TaskProgress, of identifier: String) {
        scheduler.report(progress, of: identifier)
    }

    /// Begins, expires and ends whatever is due, or whatever commands have asked for since the last call.
    package mutating func due(_ conditions: TaskConditions, _ turn: Turn) -> Moves {
        for identifier in scheduler.endOverrun(conditions) {
            moves.ended.append(identifier)
            noteEnd(identifier, turn)
        }
        moves.expiring += scheduler.expire(conditions)
        let begun = scheduler.beginDue(conditions)
        for identifier in begun { noteBegin(identifier, turn) }
        defer { moves = Moves() }
        return moves
    }

    private mutating func noteBegin(_ identifier: String, _ turn: Turn) {
        isChanged = true
        moves.begun.append(identifier)
        turn.log(.taskStarted, ["task": identifier])
    }

    /// Returns false if the command isn't about tasks.
    package mutating func receive(_ command: Value, _ conditions: TaskConditions, _ turn: Turn) -> Bool {
        guard let command = TaskCommand(command) else { return false }
        let identifier = command.task
        switch command.action {
        case .launch:
            do throws(DeliveryError) {
                let wasRunning = scheduler.isRunning(identifier)
                let forced = command.force == true
                if let obstacle = try scheduler.launch(identifier, forced: forced, conditions) {
                    turn.log(.taskWaits, ["task": identifier, "for": obstacle.rawValue])
                } else if !wasRunning {
                    noteBegin(identifier, turn)
                }
            } catch {
                turn.log(.taskRefused, ["why": error.description])
            }
        case .expire:
            if scheduler.expire(identifier, conditions) { moves.expiring.append(identifier) }
        case .cancel:
            if scheduler.cancelRunning(identifier, conditions) {
                moves.ended.append(identifier)
                noteEnd(identifier, turn)
            } else if scheduler.cancel(identifier) {
                isChanged = true
                cancelled.insert(identifier)
                turn.log(.taskCancelled, ["task": identifier])
            }
        }
        return true
    }

    /// Writes the rows that have changed, if any, in the turn's transaction.
    package mutating func save(_ turn: Turn) throws {
        guard isChanged else { return }
        isChanged = false
        let rows = scheduler.rows
        for (identifier, row) in rows where saved[identifier] != row {
            try Self.table.set(identifier, to: Value(row), turn)
        }
        saved.merge(rows) { _, new in new }
    }
}

extension TaskHost {
    /// The tasks that a plugin's manifest lets it schedule.
    package struct Permissions: Sendable, Equatable {
        package var tasks: Set<String>
        package var backgroundModes: Set<String>

        package init(tasks: Set<String>, backgroundModes: Set<String>) {
            (self.tasks, self.backgroundModes) = (tasks, backgroundModes)
        }

        package init(_ rights: PluginRights) {
            self.init(
                tasks: rights.permittedTasks, backgroundModes: Set(rights.backgroundModes.map(\.rawValue)))
        }
    }
}
