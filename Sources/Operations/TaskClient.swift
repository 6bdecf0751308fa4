import Console
import Foundation
import HealthModel
import MessageBus
import PluginKit
import SQLite

/// The stack's scheduled tasks: lists them, and tells a running instance to launch, expire or cancel one.
public struct TaskClient {
    /// A task, whose it is, and how it stands, as `details.tasks` says it.
    public struct Row {
        public var instance: String
        public var value: Value

        public var id: String { value["id"].string ?? "" }
        public var state: String { value["state"].string ?? "" }
        var runs: Int64 { value["history"]["runs"].int ?? 0 }
    }

    private let stack: Stack
    private let hosts: [String]

    public init(_ stack: Stack) {
        self.stack = stack
        hosts = [Manifest.Kind.debouncer, .consolidator].compactMap { stack.configuration.only($0)?.name }
    }

    /// All tasks: of running instances as they are now, of those that are stopped or hang as they were kept.
    public func rows() throws -> [Row] {
        let reader = stack.reader()
        let running = try hosts.filter { try reader.isRunning($0) }
        let heard = running.isEmpty ? [:] : try reader.gather(running, within: 3)
        var rows = running.flatMap { Self.rows(of: $0, heard) }
        for host in hosts where heard[host] == nil {
            let waitsFor = running.contains(host) ? "\(host) doesn't answer" : "the stack isn't running"
            try stack.kept(host, reader) { database in
                try database.prepare("SELECT id, value FROM tasks ORDER BY id").forEachRow { row in
                    let kept = try Value(json: row.bytes(1))
                    let request = kept["pending"].isNull ? kept["interrupted"] : kept["pending"]
                    rows.append(
                        Row(
                            instance: host,
                            value: [
                                "id": .string(row.string(0)), "state": request.isNull ? "idle" : "pending",
                                "request": request, "waitsFor": request.isNull ? .null : .string(waitsFor),
                                "history": kept["history"],
                            ]))
                }
            }
        }
        return rows.sorted { ($0.id, $0.instance) < ($1.id, $1.instance) }
    }

    private func rows(_ client: StackClient, _ running: [String]) throws -> [Row] {
        let beats = client.gather(running, within: 5)
        for host in running where beats[host] == nil {
            throw Failure(
                "'\(host)' runs, but doesn't answer on the bus",
                hint: "'healthbus doctor' says what hangs and what to do")
        }
        return running.flatMap { Self.rows(of: $0, beats) }
    }

    private static func rows(of host: String, _ beats: [String: (beat: Heartbeat, age: Double)]) -> [Row] {
        (beats[host]?.beat.details["tasks"]?.array ?? []).map { Row(instance: host, value: $0) }
    }

    /// Gives a command and waits for its effect.
    /// - Parameter action: "launch", "expire" or "cancel".
    /// - Returns: the task afterwards.
    public func run(_ action: String, _ id: String) throws -> Row {
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        let running = try hosts.filter { try stack.reader().isRunning($0) }
        guard !running.isEmpty else {
            throw Failure("no stack runs on \(stack.place)", hint: "start it with 'healthbus up'")
        }
        let waits = running.map { AnswerWait(client, for: $0, hub: stack.hub) }
        for wait in waits { try wait.untilHeard() }
        let before = try find(id, in: try rows(client, running))
        try check(action, before)
        let deadline = MonotonicClock.now + 10 * Instant.second
        while MonotonicClock.now < deadline {
            client.command(before.instance, ["command": .string(action), "task": .string(id), "force": true])
            let step = MonotonicClock.now + 300_000
            while MonotonicClock.now < step {
                client.wait(until: Date(timeIntervalSinceNow: 0.05))
                let now = try find(id, in: try rows(client, running))
                if hasDone(action, before, now) { return now }
            }
        }
        let why = try find(id, in: try rows(client, running)).value["waitsFor"].string
        throw Failure(
            "'\(id)' didn't \(action)" + (why.map { ": \($0)" } ?? ""),
            hint: "'healthbus tasks list' shows how it stands, and the debouncer's log what happened")
    }

    private func find(_ id: String, in rows: [Row]) throws -> Row {
        if let row = rows.first(where: { $0.id == id }) { return row }
        let known = rows.map(\.id)
        throw Failure.usage(
            "there is no task '\(id)'",
            hint: Nearest.to(id, among: known).map { "did you mean '\($0)'?" }
                ?? "there are: \(known.joined(separator: ", "))")
    }

    private func check(_ action: String, _ row: Row) throws {
        switch (action, row.state) {
        case ("launch", "idle"):
            throw Failure(
                "'\(row.id)' isn't pending, so it can't be launched",
                hint: row.id == "historical"
                    ? "'healthbus sync --history 90' submits it" : "it is submitted when there is something to do")
        case ("launch", "running"), ("launch", "expiring"): throw Failure("'\(row.id)' runs already")
        case ("expire", "idle"), ("expire", "pending"): throw Failure("'\(row.id)' doesn't run, so it can't expire")
        case ("cancel", "idle"): throw Failure("'\(row.id)' isn't pending, so there is nothing to cancel")
        default: return
        }
    }

    private func hasDone(_ action: String, _ before: Row, _ now: Row) -> Bool {
        switch action {
        case "launch": now.runs > before.runs
        case "expire": now.state != "running"
        default:
            now.state == "idle" || now.value["history"] != before.value["history"]
                || now.value["request"] != before.value["request"]
        }
    }
}

extension TaskClient {
    /// A table for eyes.
    public static func table(_ rows: [Row], for terminal: Terminal, now: Date) -> String {
        var table = Table([
            .init("Task"), .init("Kind", givesWay: 2), .init("State"), .init("Waits for"), .init("Last run"),
            .number("Took", givesWay: 1), .init("Outcome"), .number("Runs", givesWay: 3),
        ])
        func date(_ value: Value) -> Date? { value.int.map { Date(timeIntervalSince1970: $0.seconds) } }
        for row in rows {
            let history = row.value["history"]
            var waits = row.value["waitsFor"].string ?? ""
            if waits == TaskWait.notYet, let earliest = date(row.value["request"]["earliestBegin"]) {
                waits = HumanFormat.relative(earliest, now: now)
            }
            if let done = row.value["progress"]["done"].int, let total = row.value["progress"]["total"].int {
                waits = "\(done) of \(total) done"
            }
            table.add([
                row.id, row.value["kind"].string ?? "", row.state, waits,
                HumanFormat.relative(date(history["lastBegin"]), now: now),
                history["lastOutcome"].isNull
                    ? "" : HumanFormat.duration(.seconds((history["lastDuration"].int ?? 0).seconds)),
                history["lastOutcome"].string ?? "", "\(history["runs"].int ?? 0)",
            ])
        }
        return table.render(for: terminal)
    }
}

/// How heartbeats say what a task waits for, where that is told in other words here.
private enum TaskWait {
    static let notYet = "not before its earliest begin"
}
