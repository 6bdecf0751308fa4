import Changelog
import Client
import Configuration
import DeliveryKit
import Foundation
import HealthModel
import Inspection
import Protocol
import Terminal

/// `healthbus status`: the processes, each metric's newest data, and what is waiting. Works on a stopped stack too,
/// from its files.
package struct StatusReport {
    package let value: Value
    private let now: Date
    /// Handlers whose deliveries can't be distinguished from another handler's.
    private let indistinct: Set<String>
    private let swaps: SwapReport
    /// What people call the destination that `backend` is about.
    private let word: String

    /// - Parameter now: the current time, for ages such as "5 min ago".
    package init(_ stack: Stack, now: Date) throws {
        self.now = now
        indistinct = Set(
            stack.configuration.handlers.filter { stack.configuration.deliveredFamily(of: $0) == nil }.map(\.name))
        let reader = stack.reader()
        // What keeps ending, on a full disk say, isn't waited for.
        let running = try stack.names.filter { try reader.isRunning($0) }
        let isUp = !running.isEmpty
        var beats: Beats = [:]
        if isUp {
            beats = try reader.gather(running + (stack.isUp() ? ["supervisor"] : []), within: 1.5)
        }
        let types = try reader.pages(try stack.instance(.observer), .types).first
        let observed = Self.byType(types?.types ?? [])
        let apart = HeldStatistics(types?.types ?? []).counts
        let days = try Dictionary(
            grouping: ObserverQueries(stack, reader).completeness(user: nil, nights: stack.configuration.nights),
            by: \.type)
        let supervised = Self.supervised(beats["supervisor"]?.beat)

        var processes: [Value] = []
        for instance in stack.configuration.instances {
            processes.append(
                try Self.process(instance.name, beats, supervised[instance.name], stack, reader))
        }
        let destinations = stack.destinations
        var stored: (last: [String: Instant], letters: Int64, dropped: Int64, conflicts: Int64) = ([:], 0, 0, 0)
        for destination in destinations {
            let own = try Self.delivered(destination, stack, reader, beats[destination.name]?.beat)
            // "Delivered" means that data has reached every destination that accepts it.
            stored.last.merge(own.last) { min($0, $1) }
            stored.letters += own.letters
            stored.dropped += own.dropped
            stored.conflicts += own.conflicts
        }
        let blocked = destinations.compactMap { destination -> String? in
            guard let why = beats[destination.name]?.beat.stage.blocked else { return nil }
            return destinations.count > 1 ? "\(destination.name): \(why)" : why
        }
        var metrics: [Value] = []
        for handler in stack.configuration.handlers {
            var metric = try Self.metric(
                handler, stack, reader, observed, beats[handler.name]?.beat, stored.last)
            metric["statistics"] = Value(stack.configuration.known(apart, to: handler).reduce(0, +))
            metric.merge(Self.completeness(stack.configuration.known(days, to: handler))) { $1 }
            metrics.append(.object(metric))
        }
        let pendingDelivery = destinations.map { Self.pendingDelivery($0.name, stack, beats) }.max() ?? 0
        let ingest = stack.configuration.only(.ingest)
        let page = stack.configuration.only(.dashboard)
        let keptLocal = destinations.compactMap { beats[$0.name]?.beat.uploader?.keptLocal }.max()
        swaps = SwapReport(
            swaps: beats["supervisor"]?.beat.supervisor?.swaps ?? [], instances: stack.configuration.instances,
            kept: try stack.configuredInsteadOfSwapped(), running: beats.mapValues { $0.beat.plugin })
        // The stack's own backend, if there are several destinations.
        let main = stack.configuration.deliveringToBackends.first { $0.address == nil } ?? destinations.first
        word = main?.manifest.destination?.word ?? ""
        let pendingDays = metrics.compactMap { $0["pending"].int }.reduce(0, +)
        let members: [String: Value] = [
            "state": .string(stack.place), "running": .bool(isUp), "processes": .array(processes),
            "metrics": .array(metrics),
            "quarantined": .integer(types?.quarantined ?? 0),
            "keptLocal": Value(keptLocal),
            "deadLetters": .integer(stored.letters), "droppedLetters": .integer(stored.dropped),
            "conflicts": .integer(stored.conflicts),
            "pending": .integer(pendingDays + pendingDelivery), "stalest": Self.stalest(metrics),
            "blocked": Value(blocked.isEmpty ? nil : blocked.joined(separator: "; ")),
            "backend": Self.backend(main.flatMap { beats[$0.name]?.beat }),
            "destinations": try DestinationReport(stack, reader, beats, now: now).value,
            "ingest": try Self.ingest(ingest, ingest.flatMap { beats[$0.name]?.beat }),
            "dashboard": try Self.dashboard(page, page.flatMap { beats[$0.name]?.beat }),
        ]
        value = .object(members.merging(swaps.members) { $1 })
    }

    /// When the newest sample of each type ends, across all users.
    package static func byType(_ types: [TypeRow]) -> [String: Instant] {
        var last: [String: Instant] = [:]
        for entry in types {
            guard let end = entry.lastEnd ?? entry.lastStart else { continue }
            last[entry.type] = max(last[entry.type] ?? end, end)
        }
        return last
    }

    private static func supervised(_ beat: Heartbeat?) -> [String: SupervisorDetails.Process] {
        let processes = beat?.supervisor?.processes ?? []
        return Dictionary(processes.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    }

    private static func process(
        _ name: String, _ beats: Beats, _ supervised: SupervisorDetails.Process?,
        _ stack: Stack, _ reader: StackReader
    ) throws -> Value {
        let beat = beats[name]?.beat
        var lag: [String: Value] = [:]
        for upstream in beat?.frontier.keys.sorted() ?? [] {
            guard let head = beats[upstream]?.beat.head, let lacking = beat?.lacks(of: upstream, at: head) else {
                continue
            }
            lag[stack.topic(of: upstream)] = .integer(lacking)
        }
        let runs = try reader.isRunning(name)
        var state = supervised?.state ?? (runs ? (beat?.phase.rawValue ?? "silent") : "stopped")
        // A process that a person started in the place of the supervisor's process counts as the instance, even though
        // the supervisor's process is waiting to take over.
        if let beat, beat.phase == .ready, supervised?.pid != beat.pid,
            InstanceLock.holder(folder: stack.state.instance(name)) == beat.pid
        {
            state = beat.phase.rawValue
        }
        // The supervisor saw that the process was ready; if it doesn't answer now, it is hanging.
        if beat == nil, runs, state == "ready" { state = "silent" }
        return [
            "name": .string(name), "state": .string(state),
            "pid": Value(beat?.pid ?? supervised?.pid),
            "restarts": Value(supervised?.restarts), "memory": beat.map { .integer($0.memory) } ?? .null,
            "lag": .object(lag), "busySince": iso(beat?.busySince),
        ]
    }

    /// When the uploader last delivered each metric, and its dead letters and conflicts. They come from its heartbeat
    /// or, if there is none, from its file.
    private static func delivered(
        _ uploader: StackConfiguration.Instance, _ stack: Stack, _ reader: StackReader, _ beat: Heartbeat?
    ) throws -> (last: [String: Instant], letters: Int64, dropped: Int64, conflicts: Int64) {
        if let reported = beat?.uploader {
            return (reported.lastDelivered, reported.deadLetters, reported.droppedLetters, reported.conflicts ?? 0)
        }
        return try stack.kept(uploader.name, reader) { database in
            (
                try DeliveryTables.metrics(in: database).mapValues(\.last), try DeadLetter.count(in: database),
                try DeliveryTables.droppedLetters(in: database), try DeliveryConflict.count(in: database)
            )
        } ?? ([:], 0, 0, 0)
    }

    private static func metric(
        _ handler: StackConfiguration.Instance, _ stack: Stack, _ reader: StackReader, _ observed: [String: Instant],
        _ beat: Heartbeat?, _ delivered: [String: Instant]
    ) throws -> [String: Value] {
        let last = stack.configuration.known(observed, to: handler).max()
        let delivery = stack.configuration.deliveredFamily(of: handler).flatMap { delivered[$0] }
        var members = Value(try MetricFreshness(handler, stack, reader, beat)).object ?? [:]
        members["lastSample"] = iso(last)
        members["lastDelivered"] = iso(delivery)
        if let conditions = beat?.handler?.conditions { members["conditions"] = Value(conditions) }
        return members
    }

    /// For all of a metric's types and users together: a day counts as missing only if none of them has samples on it.
    private static func completeness(_ types: [[TypeDays]]) -> [String: Value] {
        let types = types.flatMap { $0 }
        var members = types.reduce(DayRuns()) { $0.union($1.days) }.value
        members["firstSample"] = iso(types.compactMap(\.firstStart).min())
        members["late"] = types.reduce(TypeDays.Late()) { $0 + $1.late() }.value
        return members
    }

    /// How many sequence numbers the uploader still has to deliver.
    private static func pendingDelivery(
        _ uploader: String?, _ stack: Stack, _ beats: Beats
    ) -> Int64 {
        guard let uploader, let beat = beats[uploader]?.beat else { return 0 }
        return beat.frontier.reduce(0) { sum, entry in
            sum + (beats[entry.key]?.beat.head?.distance(from: entry.value) ?? 0)
        }
    }

    /// The metric with samples that has been without new ones the longest; null if there is none.
    package static func stalest(_ metrics: [Value]) -> Value {
        let stalest = metrics.filter { !$0["lastSample"].isNull }.min { a, b in
            (a["lastSynced"].string ?? "") < (b["lastSynced"].string ?? "")
        }
        return stalest.map { ["metric": $0["metric"], "lastSynced": $0["lastSynced"]] } ?? .null
    }

    private static func iso(_ instant: Instant?) -> Value { Value(instant.map { InstantText.iso8601($0) }) }
}

extension StatusReport {
    /// Tables for people, and one line that names the stalest metric.
    package func text(for terminal: Terminal) -> String {
        func ago(_ value: Value) -> String { self.ago(value, terminal) }
        var processes = Table([
            .init("Process"), .init("State"), .number("Pid"), .number("Restarts"), .number("Memory"), .number("Behind"),
        ])
        for process in value["processes"].array ?? [] {
            processes.add([
                process["name"].string ?? "", process["state"].string ?? "", process["pid"].int.map { "\($0)" } ?? "",
                process["restarts"].int.map { "\($0)" } ?? "",
                process["memory"].int.map { HumanFormat.bytes(Int($0)) } ?? "",
                process["lag"].object?.values.compactMap(\.int).max().map { HumanFormat.count(Int($0)) } ?? "",
            ])
        }
        var metrics = Table([
            .init("Metric"), .init("First sample", givesWay: 1), .init("Last sample"), .init("Synced"),
            .init("Checked", givesWay: 4), .init("Delivered"), .number("Days pending"),
            .number("Missing days", givesWay: 5), .number("Longest gap", givesWay: 2), .number("Late", givesWay: 3),
        ])
        let places = (value["destinations"].array ?? []).compactMap { $0.read(DestinationReport.Row.self) }
        let trust = places.contains(where: \.onTrust) ? DestinationReport.onTrust : ""
        for metric in value["metrics"].array ?? [] {
            let name = metric["metric"].string ?? ""
            metrics.add([
                name, metric["firstDay"].string ?? "", ago(metric["lastSample"]),
                ago(metric["lastSynced"]),
                // A process that is stopped doesn't say when it last looked.
                metric["lastChecked"].isNull
                    ? (metric["lastSynced"].isNull ? "not yet" : "") : ago(metric["lastChecked"]),
                indistinct.contains(name)
                    ? "" : ago(metric["lastDelivered"]) + (metric["lastDelivered"].isNull ? "" : trust),
                metric["pending"].int.map { HumanFormat.count(Int($0)) } ?? "",
                daily(metric, metric["gapDays"]), daily(metric, metric["longestGap"]["days"]),
                metric["late"]["count"].int.map { $0 > 0 ? HumanFormat.count(Int($0)) : "" } ?? "",
            ])
        }
        let watched = (value["metrics"].array ?? []).compactMap { metric in
            metric["conditions"].int.map { "\(metric["metric"].string ?? "") watches \($0). " }
        }
        let stalest = value["stalest"]["metric"].string.map {
            "Stalest: \($0), synced \(ago(value["stalest"]["lastSynced"])). "
        }
        let dropped = value["droppedLetters"].int.map { $0 > 0 ? " (\($0) dropped)" : "" } ?? ""
        let destinations = places.count > 1 ? DestinationReport(rows: places, now: now).text(for: terminal) + "\n" : ""
        let keptLocal = value["keptLocal"].int.map { Self.keptLocalText(Int($0)) } ?? ""
        let stopped = value["running"].bool == true ? "" : "Nothing runs there; this is from its files.\n"
        return "State  \(value["state"].string ?? "")\n\(stopped)\n" + processes.render(for: terminal) + "\n"
            + swaps.text
            + metrics.render(for: terminal) + "\n" + destinations
            + watched.joined()
            + (stalest ?? "")
            + "Quarantined \(value["quarantined"].int ?? 0), dead letters \(value["deadLetters"].int ?? 0)\(dropped), "
            + "pending \(value["pending"].int ?? 0).\n"
            + Self.statisticsText(value["metrics"].array ?? [])
            + (value["conflicts"].int.map { Self.conflictsText(Int($0)) } ?? "") + keptLocal
            + Self.dashboardText(value["dashboard"]) + Self.ingestText(value["ingest"], ago)
            + Self.backendText(value["backend"], word: word, ago)
            + (places.count > 1 ? "" : value["blocked"].string.map { "Delivery waits: \($0)\n" } ?? "")
    }

    static func conflictsText(_ count: Int) -> String {
        guard count > 0 else { return "" }
        return "\(HumanFormat.count(count, "delivered element")) \(count == 1 ? "has" : "have") other content there: "
            + "'healthbus conflicts' lists \(count == 1 ? "it" : "them").\n"
    }

    static func keptLocalText(_ count: Int) -> String {
        "\(HumanFormat.count(count, "sample")) from before 'deliverSince' \(count == 1 ? "stays" : "stay") here.\n"
    }

    /// A number of days; empty for data that doesn't arrive daily: a scale used weekly has no gaps.
    private func daily(_ metric: Value, _ days: Value) -> String {
        guard metric["usuallyDaily"].bool == true else { return "" }
        return HumanFormat.count(Int(days.int ?? 0))
    }

    private func ago(_ value: Value, _ terminal: Terminal) -> String {
        HumanFormat.relative(value.string.flatMap { InstantText.parse($0) }, now: now, for: terminal)
    }
}
