import Changelog
import Configuration
import HealthModel
import Inspection
import MessageBus
import Protocol

/// The stack as a graph with the state of each process, for a person watching it from second to second. Pure.
package struct PipelineView: Sendable {
    package struct Node: Sendable, Equatable {
        package enum State: String, Sendable {
            case ready
            /// It has work, but isn't making progress.
            case behind
            /// It is running, but doesn't respond.
            case hanging
            case stopped, starting, backoff, failed
            /// It has never been heard from.
            case silent
        }

        package var row: TopTable.Row
        package var state: State
        /// What is wrong, in a sentence.
        package var why: String?
        package var since: Instant?
        /// When its process started, if it replaced a process that had ended.
        package var restarted: Instant?
    }

    package let graph: StackGraph
    package let nodes: [Node]
    package let isSupervised: Bool
    package let pendingDays: Int64
    private let beats: Beats
    private let now: Instant
    /// When each process was last seen to make progress.
    private let still: [String: Instant]

    /// A process that leaves a question unanswered for this long counts as hanging: every process is asked twice a
    /// second, and normally answers at once.
    package static let patience = 1.0
    /// The hub answers no questions, and reports only at intervals.
    private static let hubPatience = Repetition.silence.seconds
    /// A stage that spends this long on one turn counts as hanging, although its connection to the bus still answers.
    private static let turnPatience = Duration.seconds(20)
    /// Work that hasn't decreased for this long isn't just waiting in a window in which changes are collected.
    private static let stillPatience = Duration.seconds(10)

    /// - Parameters:
    ///   - sample: must follow an earlier sample; otherwise there are no rates.
    ///   - beats: the heartbeats, with their age in seconds.
    ///   - unanswered: how many seconds each silent process has left a question unanswered.
    ///   - old: the view that was shown before.
    package init(
        _ stack: StackConfiguration, _ sample: TopSample, _ beats: Beats, unanswered: [String: Double],
        after old: PipelineView?
    ) {
        graph = StackGraph(stack)
        let table = TopTable(sample)
        pendingDays = table.pendingDays
        now = sample.now
        self.beats = beats
        isSupervised = beats["supervisor"].map { $0.age < TopSample.patience.seconds } ?? false
        still = beats.reduce(into: [:]) { still, heard in
            let past = old.flatMap { old in old.beats[heard.key].map { Work($0.beat, old.beats) } }
            let isSame = past.map { $0 == Work(heard.value.beat, beats) } ?? false
            still[heard.key] = isSame ? old?.still[heard.key] ?? sample.now : sample.now
        }
        let before = Dictionary((old?.nodes ?? []).map { ($0.row.name, $0) }, uniquingKeysWith: { first, _ in first })
        let hub = stack.only(.hub)?.name
        let (now, still) = (now, still)
        nodes = table.rows.map { row in
            let heard = beats[row.name]
            let isSilent =
                row.name == hub
                ? (heard?.age ?? 0) > Self.hubPatience : (unanswered[row.name] ?? 0) > Self.patience
            let verdict = Self.verdict(row, heard, isSilent: isSilent, still: still[row.name], now: now)
            let restarted = (row.restarts ?? 0) > 0 ? heard?.beat.started : nil
            guard let verdict else { return Node(row: row, state: .ready, restarted: restarted) }
            // A lasting state keeps the time at which it was first seen.
            let known = before[row.name].flatMap { $0.state == verdict.state ? $0.since : nil }
            return Node(
                row: row, state: verdict.state, why: verdict.why, since: verdict.since ?? known ?? now,
                restarted: restarted)
        }
    }

    private typealias Verdict = (state: Node.State, why: String, since: Instant?)

    /// What is wrong; nil when nothing is.
    private static func verdict(
        _ row: TopTable.Row, _ heard: (beat: Heartbeat, age: Double)?, isSilent: Bool, still: Instant?, now: Instant
    ) -> Verdict? {
        switch row.state {
        case "stopped", "stopping": return (.stopped, "it was stopped", nil)
        case "starting": return (.starting, "it is starting", nil)
        case "backoff": return (.backoff, "it ended, and will be restarted after a while", nil)
        case "failed": return (.failed, "it ended, and won't be restarted", nil)
        default: break
        }
        guard let heard else { return (.silent, "it hasn't been heard from", nil) }
        if heard.beat.phase == .stopped { return (.stopped, "it was stopped", nil) }
        if isSilent {
            return (.hanging, "it is running but not responding", now - .microseconds(Int64(heard.age * 1_000_000)))
        }
        if let since = heard.beat.busySince, now - since > turnPatience {
            return (.hanging, "it has been busy with one turn since then", since)
        }
        let hasWork = (row.behind ?? 0) > 0 || (heard.beat.handler?.pending ?? 0) > 0
        if hasWork, let still, now - still > stillPatience {
            return (.behind, "it has work, but makes no progress", still)
        }
        return nil
    }

    /// The numbers that show whether a process makes progress.
    private struct Work: Equatable {
        var frontier: [String: SequenceNumber]
        var pending: Int?
        var commit: Instant?
        /// A process with nothing to do counts as standing still only from the moment work arrives.
        var isAtRest: Bool

        init(_ beat: Heartbeat, _ beats: Beats) {
            (frontier, pending, commit) = (beat.frontier, beat.stage.pending, beat.lastCommit)
            isAtRest =
                (pending ?? 0) == 0
                && beat.frontier.allSatisfy { upstream, frontier in
                    beats[upstream]?.beat.head.map { $0.sequence <= frontier } ?? true
                }
        }
    }

    /// Whether `old` showed the same, apart from numbers that change all the time.
    package func isLike(_ old: PipelineView) -> Bool {
        nodes.map(\.state) == old.nodes.map(\.state) && nodes.map(\.restarted) == old.nodes.map(\.restarted)
    }

    // MARK: JSON

    /// - Parameter rates: messages per second by topic; nil if they weren't counted.
    package func value(rates: [String: Double]?) -> Value {
        var layers: [String: Int] = [:]
        for (depth, nodes) in graph.layers.enumerated() { for node in nodes { layers[node.name] = depth } }
        let kinds = Dictionary(graph.nodes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return [
            "at": .string(InstantText.iso8601(now)), "supervised": .bool(isSupervised),
            "pendingDays": .integer(pendingDays),
            "nodes": .array(nodes.map { value($0, kinds[$0.row.name], layers[$0.row.name]) }),
            "edges": .array(
                graph.edges.map { edge in
                    let pattern = TopicPattern(edge.topic)
                    let rate = rates.map { $0.filter { pattern.matches($0.key) }.values.reduce(0, +) }
                    return [
                        "from": .string(edge.from), "to": .string(edge.to), "topic": .string(edge.topic),
                        "kind": .string(edge.kind.rawValue),
                        "rate": Self.counted(edge.topic) ? Self.rounded(rate) : .null,
                    ]
                }),
        ]
    }

    /// Topics of hints, which are small and infrequent: counting pages would mean receiving them all.
    package static let countedTopics = ["observed.", "sync.", "figures.", "events.", "daily.", "alert."]

    private static func counted(_ topic: String) -> Bool { countedTopics.contains { topic.hasPrefix($0) } }

    private static func rounded(_ number: Double?) -> Value { Value(number?.rounded(decimals: 2)) }

    private func value(_ node: Node, _ known: StackGraph.Node?, _ layer: Int?) -> Value {
        let row = node.row
        let beat = beats[row.name]?.beat
        let behind = (beat?.frontier.keys.sorted() ?? []).map { ($0, lacks(beat, of: $0)) }.max { $0.1 < $1.1 }
        return [
            "name": .string(row.name), "plugin": Value(known?.plugin ?? beat?.plugin),
            "kind": Value(known?.kind.rawValue ?? (graph.hub == row.name ? "hub" : nil)),
            "state": .string(node.state.rawValue), "why": Value(node.why),
            "since": Value(node.since.map { InstantText.iso8601($0) }), "received": Self.rounded(row.received),
            "sent": Self.rounded(row.sent), "rows": Self.rounded(row.rows), "behind": Value(row.behind.map { Int($0) }),
            "behindOn": Value(behind.flatMap { upstream, changes in changes > 0 ? upstream : nil }),
            "pending": Value(beat?.stage.pending), "memory": Value(row.memory.map { Int($0) }),
            "processor": Self.rounded(row.processor), "restarts": Value(row.restarts),
            "restarted": Value(node.restarted.map { InstantText.iso8601($0) }),
            "uptimeSeconds": Value(row.uptime.map { $0.rounded() }),
            "lastCommit": Value(beat?.lastCommit.map { InstantText.iso8601($0) }), "layer": Value(layer),
        ]
    }

    private func lacks(_ beat: Heartbeat?, of upstream: String) -> Int64 {
        beats[upstream]?.beat.head.flatMap { beat?.lacks(of: upstream, at: $0) } ?? 0
    }
}
