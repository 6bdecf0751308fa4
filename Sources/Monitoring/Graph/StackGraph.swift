import Configuration
import HealthModel
import Protocol

/// Which processes in a stack listen to which others, according to its configuration and its plugins' manifests. Pure.
package struct StackGraph: Sendable, Equatable {
    package struct Node: Sendable, Equatable {
        package var name: String
        package var plugin: String
        package var kind: Manifest.Kind
        /// nil while the stack isn't running.
        package var state: String?
    }

    package struct Edge: Sendable, Hashable {
        package enum Kind: String, Sendable, Comparable {
            /// Data passed on: samples, figures, events, summaries, and hints about them.
            case data
            /// Control messages: commands, acknowledgements, answers.
            case control
            /// Rows or messages that only inform a person.
            case alert

            package static func < (a: Kind, b: Kind) -> Bool { a.rawValue < b.rawValue }
        }

        package var from: String
        package var to: String
        package var topic: String
        package var kind: Kind
    }

    package var nodes: [Node]
    /// The edges, in the order of the nodes.
    package var edges: [Edge]
    /// The forwarder through which every message goes.
    package var hub: String?

    /// - Parameter states: the states, by instance.
    package init(_ stack: StackConfiguration, states: [String: String] = [:]) {
        let members = stack.instances.filter { $0.manifest.kind != .hub }
        hub = stack.only(.hub)?.name
        nodes = members.map {
            Node(name: $0.name, plugin: $0.manifest.name, kind: $0.manifest.kind, state: states[$0.name])
        }
        var edges: [Edge] = []
        for from in members {
            for to in members where to.name != from.name {
                edges += Self.topics(from: from, to: to).map {
                    Edge(from: from.name, to: to.name, topic: $0.text, kind: Self.kind(of: $0))
                }
                if from.manifest.kind == .observer, Self.pullsSamples(to) {
                    edges.append(Edge(from: from.name, to: to.name, topic: "samples", kind: .data))
                }
                if from.manifest.destination?.kind == .backend, to.manifest.kind == .backend {
                    edges.append(Edge(from: from.name, to: to.name, topic: "HTTP", kind: .data))
                }
            }
        }
        self.edges = edges
    }

    private static func topics(
        from: StackConfiguration.Instance, to: StackConfiguration.Instance
    ) -> [TopicPattern] {
        let consumed = to.consumedTopics.filter { !$0.text.hasPrefix("heartbeat.") }
        return Set(from.producedTopics.flatMap { produced in consumed.compactMap { produced.overlap($0) } }).sorted()
    }

    private static func kind(of topic: TopicPattern) -> Edge.Kind {
        if topic.text.hasPrefix(Alert.topicPrefix) { return .alert }
        let steers = ["control.", "acknowledged.", "ingested."].contains { topic.text.hasPrefix($0) }
        return steers ? .control : .data
    }

    /// A consumer that hears how far it may pull is assumed to pull.
    private static func pullsSamples(_ instance: StackConfiguration.Instance) -> Bool {
        instance.consumedTopics.contains { $0.text.hasPrefix("sync.") }
    }

    /// Where phones and programs push their data, over HTTP.
    package var entrances: [String] { nodes.filter { $0.kind == .ingest }.map(\.name) }

    /// Nodes by the greatest number of data steps before them; those without any come first. Notifiers and dashboards
    /// always come last.
    package var layers: [[Node]] {
        var depth: [String: Int] = [:]
        let data = edges.filter { $0.kind == .data }
        // There are as many rounds as nodes, so that the loop ends even if there is a cycle, which only a wrong
        // manifest can cause.
        for _ in nodes {
            for edge in data {
                depth[edge.to] = max(depth[edge.to] ?? 0, min(nodes.count, (depth[edge.from] ?? 0) + 1))
            }
        }
        let last = depth.values.max() ?? 0
        for node in nodes where [.notifier, .dashboard].contains(node.kind) { depth[node.name] = last }
        return Dictionary(grouping: nodes) { depth[$0.name] ?? 0 }.sorted { $0.key < $1.key }.map(\.value)
    }

    package var value: Value {
        [
            "hub": Value(hub), "entrances": .array(entrances.map { .string($0) }),
            "nodes": .array(
                nodes.map {
                    [
                        "name": .string($0.name), "plugin": .string($0.plugin), "kind": .string($0.kind.rawValue),
                        "state": Value($0.state),
                    ]
                }),
            "edges": .array(
                edges.map {
                    [
                        "from": .string($0.from), "to": .string($0.to), "topic": .string($0.topic),
                        "kind": .string($0.kind.rawValue),
                    ]
                }),
        ]
    }
}

extension StackConfiguration.Instance {
    /// The topics that it receives, or whose rows it pulls. Manifests leave out pulls and pages, and among what is
    /// produced also heartbeats and alerts, which all plugins of a kind have.
    package var consumedTopics: [TopicPattern] { manifest.consumes.map { TopicPattern(topic($0)) } }
    package var producedTopics: [TopicPattern] {
        manifest.produces.map { TopicPattern(topic($0)) }
            + (Alert.raisers.contains(manifest.kind) ? [TopicPattern(Alert.topicPrefix + "*")] : [])
    }

    /// A manifest names topics after the plugin; on the bus they are the instance's, whichever plugin it runs.
    package func topic(_ manifests: String) -> String {
        guard let dot = manifests.firstIndex(of: "."), !manifests.hasSuffix("*") else { return manifests }
        let kind = manifests[..<dot]
        let isOwn =
            manifests[dot...] == "." + manifest.name || kind == "sync"
            || manifest.kind == .handler && ["figures", "events"].contains(kind)
        return isOwn ? "\(kind).\(name)" : manifests
    }
}

/// A topic as named in a manifest: either a single topic ("daily.summary") or all topics with a prefix ("figures.*").
package struct TopicPattern: Sendable, Hashable, Comparable {
    package let text: String

    package init(_ text: String) { self.text = text }

    private var isPrefix: Bool { text.hasSuffix("*") }
    private var fixed: Substring { isPrefix ? text.dropLast() : text[...] }

    package func matches(_ topic: String) -> Bool { isPrefix ? topic.hasPrefix(fixed) : topic == text }

    /// The topics that match both patterns; nil if there are none.
    package func overlap(_ other: TopicPattern) -> TopicPattern? {
        if isPrefix, other.fixed.hasPrefix(fixed) { return other }
        if other.isPrefix, fixed.hasPrefix(other.fixed) { return self }
        return text == other.text ? self : nil
    }

    package static func < (a: TopicPattern, b: TopicPattern) -> Bool { a.text < b.text }
}
