import Changelog
import Foundation
import HealthModel
import Protocol

/// What `healthbus top` shows: what each process did between two moments. Pure.
package struct TopTable: Sendable {
    package struct Row: Sendable, Equatable {
        package var name: String
        /// The state that the supervisor reports or, if it reports none, the phase in the heartbeat; "silent" for a
        /// process that hasn't been heard from, "stopped" for one that reported that it stopped.
        package var state: String
        /// Messages per second; for an ingest, requests.
        package var received: Double?
        package var sent: Double?
        /// How fast its changelog grew, in rows per second.
        package var rows: Double?
        /// How many sequence numbers it is behind the upstream that is farthest ahead of it.
        package var behind: Int64?
        /// The average duration of a turn, in milliseconds; nil if there was no turn.
        package var turn: Double?
        /// Processor use, in cores; more than 1 if it uses several.
        package var processor: Double?
        /// Bytes.
        package var memory: Int64?
        package var restarts: Int?
        /// Seconds since its process started.
        package var uptime: Double?
    }

    package let rows: [Row]
    /// The stack's own processes, as other commands count them: all rows but the supervisor's.
    package var processes: [Row] { rows.filter { $0.name != "supervisor" } }
    /// Days that handlers still have to compute.
    package let pendingDays: Int64
    /// By the clock.
    package let now: Instant

    /// - Parameter current: must include the previous heartbeats, without which there are no rates.
    package init(_ current: TopSample) {
        let heads = Dictionary(
            uniqueKeysWithValues: current.processes.compactMap { process in
                process.beat?.head.map { (process.name, $0) }
            })
        rows = current.processes.compactMap { process in
            // A supervisor that isn't running doesn't count as a missing process of the stack.
            if process.name == "supervisor", process.beat == nil { return nil }
            return Self.row(process, heads: heads, at: current)
        }
        pendingDays = current.processes.reduce(0) { $0 + Int64($1.beat?.handler?.pending ?? 0) }
        now = current.now
    }

    private static func row(
        _ process: TopSample.Process, heads: [String: StoreHead], at sample: TopSample
    ) -> Row {
        let beat = process.beat
        let isSilent = beat == nil || sample.monotonic - process.arrived >= TopSample.patience
        let heard = isSilent && beat?.phase != .stopped ? "silent" : beat?.phase.rawValue ?? "silent"
        // The supervisor saw that the process was ready; if it isn't heard from now, it is hanging.
        let state = process.supervised == "ready" && isSilent ? "silent" : process.supervised ?? heard
        var row = Row(name: process.name, state: state, restarts: process.restarts)
        guard let beat, !isSilent, beat.phase != .stopped else { return row }
        row.memory = beat.memory
        row.uptime = beat.started.map { max(0, (sample.now - $0).seconds) }
        row.behind = beat.frontier.keys.compactMap { upstream in
            heads[upstream].flatMap { beat.lacks(of: upstream, at: $0) }
        }.max()
        guard let (old, arrived) = process.earlier, old.pid == beat.pid, process.arrived > arrived else { return row }
        let seconds = (process.arrived - arrived).seconds
        func rate(_ new: Int64?, _ old: Int64?) -> Double? {
            guard let new, let old, new >= old else { return nil }
            return Double(new - old) / seconds
        }
        row.received = rate(received(beat), received(old))
        row.sent = rate(sent(beat), sent(old))
        row.processor = rate(beat.cpu, old.cpu).map { $0 / 1e6 }
        if beat.head?.generation == old.head?.generation {
            row.rows = rate(beat.head?.sequence.value, old.head?.sequence.value)
        }
        if let turns = beat.turns, let past = old.turns, turns.count > past.count, turns.busy >= past.busy {
            row.turn = Double(turns.busy - past.busy) / Double(turns.count - past.count) / 1000
        }
        return row
    }

    /// The hub counts each message that it forwards as both received and sent.
    private static func received(_ beat: Heartbeat) -> Int64? {
        if let ingest = beat.ingest { return ingest.taken + ingest.refused }
        return (beat.stage.messages?.received ?? beat.hub?.forwarded).map(Int64.init)
    }

    private static func sent(_ beat: Heartbeat) -> Int64? {
        (beat.stage.messages?.sent ?? beat.hub?.forwarded).map(Int64.init)
    }
}

extension TopTable {
    /// The totals for all processes. They include the supervisor, although it isn't counted as a process. The messages
    /// are the sum of what the processes and the hub report, so each is counted several times.
    package var total: Row {
        func sum<Number: AdditiveArithmetic>(_ numbers: [Number?]) -> Number? {
            let known = numbers.compactMap { $0 }
            return known.isEmpty ? nil : known.reduce(.zero, +)
        }
        let ready = processes.count { $0.state == "ready" }
        var total = Row(name: "total", state: "\(ready) of \(processes.count) ready")
        total.received = sum(rows.map(\.received))
        total.sent = sum(rows.map(\.sent))
        total.rows = sum(rows.map(\.rows))
        total.behind = rows.compactMap(\.behind).max()
        total.processor = sum(rows.map(\.processor))
        total.memory = sum(rows.map(\.memory))
        total.restarts = sum(rows.map(\.restarts))
        return total
    }

    /// For programs.
    package var value: Value {
        [
            "at": .string(InstantText.iso8601(now)), "pendingDays": .integer(pendingDays), "total": Self.value(total),
            "processes": .array(rows.map(Self.value)),
        ]
    }

    private static func value(_ row: Row) -> Value {
        func number(_ value: Double?) -> Value { Value(value?.rounded(decimals: 3)) }
        func integer(_ value: Int64?) -> Value { value.map { .integer($0) } ?? .null }
        return [
            "name": .string(row.name), "state": .string(row.state), "received": number(row.received),
            "sent": number(row.sent), "rows": number(row.rows), "behind": integer(row.behind),
            "turnMilliseconds": number(row.turn), "processor": number(row.processor), "memory": integer(row.memory),
            "restarts": Value(row.restarts), "uptimeSeconds": number(row.uptime),
        ]
    }
}
