import BackgroundDelivery
import Client
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import StageKit
import Terminal

/// The stack's scheduled tasks: lists them, and makes a running instance launch, expire or cancel one.
package struct TaskClient {
    /// A task and the instance that hosts it.
    package struct Row {
        package var instance: String
        package var task: ScheduledTask

        package var id: String { task.id }
        package var value: Value { Value(task) }
    }

    private let stack: Stack
    private let hosts: [String]

    package init(_ stack: Stack) {
        self.stack = stack
        hosts = [Manifest.Kind.debouncer, .consolidator].compactMap { stack.configuration.only($0)?.name }
    }

    /// All tasks: those of running instances in their current state, those of stopped or hanging ones as stored.
    package func rows() throws -> [Row] {
        let reader = stack.reader()
        let running = try hosts.filter { try reader.isRunning($0) }
        let heard = running.isEmpty ? [:] : try reader.gather(running, within: 3)
        var rows = running.flatMap { Self.rows(of: $0, heard) }
        for host in hosts where heard[host] == nil {
            let waitsFor =
                running.contains(host)
                ? "\(host) isn't responding" : running.isEmpty ? "the stack isn't running" : "\(host) isn't running"
            try stack.kept(host, reader) { database in
                for var task in try TaskHost.tasks(in: database) {
                    if task.request != nil { task.waitsFor = waitsFor }
                    rows.append(Row(instance: host, task: task))
                }
            }
        }
        return rows.sorted { ($0.id, $0.instance) < ($1.id, $1.instance) }
    }

    private func rows(_ client: StackClient, _ running: [String]) throws -> [Row] {
        let beats = client.gather(running, within: 5)
        for host in running where beats[host] == nil {
            throw Failure(
                "'\(host)' is running but not responding",
                hint: "'healthbus doctor' shows what is stuck and what to do")
        }
        return running.flatMap { Self.rows(of: $0, beats) }
    }

    private static func rows(of host: String, _ beats: Beats) -> [Row] {
        (beats[host]?.beat.stage.tasks ?? []).map { Row(instance: host, task: $0) }
    }

    /// Sends a command and waits for its effect.
    /// - Returns: the task's state afterwards.
    package func run(_ action: TaskCommand.Action, _ id: String) throws -> Row {
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        let running = try hosts.filter { try stack.reader().isRunning($0) }
        guard !running.isEmpty else {
            throw Failure("no stack is running in \(stack.place)", hint: "start it with \(stack.startCommand)")
        }
        let waits = running.map { AnswerWait(client, for: $0, hub: stack.hub) }
        for wait in waits { try wait.untilHeard() }
        let before = try find(id, in: try rows(client, running))
        try check(action, before)
        let command = TaskCommand(action, task: id, force: true).body
        let done = try client.give(command, to: before.instance, within: 10) {
            let now = try find(id, in: try rows(client, running))
            return hasDone(action, before, now) ? now : nil
        }
        if let done { return done }
        let why = try find(id, in: try rows(client, running)).task.waitsFor
        throw Failure(
            "'\(id)' didn't \(action.rawValue)" + (why.map { ": \($0)" } ?? ""),
            hint: "'healthbus tasks list' shows its state, and 'healthbus logs \(before.instance)' what happened")
    }

    private func find(_ id: String, in rows: [Row]) throws -> Row {
        if let row = rows.first(where: { $0.id == id }) { return row }
        throw Failure.usage("there is no task '\(id)'", hint: Nearest.hint(for: id, among: rows.map(\.id)))
    }

    private func check(_ action: TaskCommand.Action, _ row: Row) throws {
        switch (action, row.task.state) {
        case (.launch, .idle):
            throw Failure(
                "'\(row.id)' isn't pending, so it can't be launched",
                hint: row.id == "historical"
                    ? "'healthbus sync --history 90' submits it" : "it is submitted when there is something to do")
        case (.launch, .running), (.launch, .expiring): throw Failure("'\(row.id)' is already running")
        case (.expire, .idle), (.expire, .pending): throw Failure("'\(row.id)' isn't running, so it can't expire")
        case (.cancel, .idle): throw Failure("'\(row.id)' isn't pending, so there is nothing to cancel")
        default: return
        }
    }

    private func hasDone(_ action: TaskCommand.Action, _ before: Row, _ now: Row) -> Bool {
        switch action {
        case .launch: (now.task.history?.runs ?? 0) > (before.task.history?.runs ?? 0)
        case .expire: now.task.state != .running
        case .cancel:
            now.task.state == .idle || now.task.history != before.task.history
                || now.task.request != before.task.request
        }
    }
}

extension TaskClient {
    /// The tasks in a table for people.
    package static func table(_ rows: [Row], for terminal: Terminal, now: Date) -> String {
        var table = Table([
            .init("Task"), .init("Kind", givesWay: 2), .init("State"), .init("Waits for"), .init("Last run"),
            .number("Took", givesWay: 1), .init("Outcome"), .number("Runs", givesWay: 3),
        ])
        for row in rows {
            let task = row.task
            let history = task.history ?? TaskHistory()
            var waits = task.waitsFor ?? ""
            if task.obstacle == .notYet, let earliest = task.request?.earliestBegin {
                waits = HumanFormat.relative(earliest, now: now, for: terminal)
            }
            if let progress = task.progress { waits = "\(progress.done) of \(progress.total) done" }
            table.add([
                row.id, task.kind?.rawValue ?? "", task.state.rawValue, waits,
                HumanFormat.relative(history.lastBegin, now: now, for: terminal),
                history.lastOutcome == nil ? "" : HumanFormat.duration(.microseconds(history.lastDuration)),
                history.lastOutcome?.rawValue ?? "", "\(history.runs)",
            ])
        }
        return table.render(for: terminal)
    }
}
