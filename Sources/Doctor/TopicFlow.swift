import Configuration
import Monitoring

/// Which topics of a stack have no sender or no receiver, judging by its plugins' manifests. Pure.
struct TopicFlow {
    /// An instance, and what it consumes or produces.
    typealias End = (instance: String, topic: String)

    private(set) var withoutProducer: [End] = []
    private(set) var withoutConsumer: [End] = []

    init(_ stack: StackConfiguration) {
        var consumed: [End] = []
        var produced: [End] = []
        for instance in stack.instances where instance.manifest.kind != .hub {
            consumed += instance.manifest.consumes.map { (instance.name, instance.topic($0)) }
            produced += instance.manifest.produces.map { (instance.name, instance.topic($0)) }
        }
        // The uploader pulls what it delivers without receiving the hints: heartbeats are enough for it.
        let delivers = stack.instances.contains { $0.manifest.kind == .uploader }
        withoutProducer = consumed.filter { end in
            !Self.comesAnyway(end.topic) && !produced.contains { Self.meet($0.topic, end.topic) }
        }
        withoutConsumer = produced.filter { end in
            if Self.comesAnyway(end.topic) { return false }
            if delivers, ["events", "daily"].contains(end.topic.prefix { $0 != "." }) { return false }
            return !consumed.contains { Self.meet($0.topic, end.topic) }
        }
    }

    /// Every process sends heartbeats, any stage with alerts raises them, people and tools send commands, and an
    /// observer doesn't need anyone to push samples.
    private static func comesAnyway(_ topic: String) -> Bool {
        ["heartbeat", "alert", "control", "pull", "page", "ingest", "ingested"].contains(topic.prefix { $0 != "." })
    }

    /// Whether a topic can match both patterns; a `*` at the end matches anything.
    static func meet(_ a: String, _ b: String) -> Bool {
        func prefix(_ pattern: String) -> Substring? { pattern.hasSuffix("*") ? pattern.dropLast() : nil }
        switch (prefix(a), prefix(b)) {
        case (nil, nil): return a == b
        case (let a?, nil): return b.hasPrefix(a)
        case (nil, let b?): return a.hasPrefix(b)
        case (let a?, let b?): return a.hasPrefix(b) || b.hasPrefix(a)
        }
    }
}
