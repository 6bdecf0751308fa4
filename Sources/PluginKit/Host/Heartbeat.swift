import Changelog
import HealthModel
import Wire

/// What every instance says at once when it has moved, and again and again (`Repetition`): who it is, where it stands, how far it has consumed its upstreams.
public struct Heartbeat: Sendable, Equatable {
    public var instance: String
    public var plugin: String
    /// "running" (not heard on the bus yet), "ready", "stopped".
    public var phase: String
    public var pid: Int
    public var epoch: Int64
    public var head: StoreHead?
    /// Newest sequence by sample type, read with `head`; the observer's alone.
    public var heads: [String: Int64]
    /// How far each upstream is consumed, all outputs included; valid for whoever has consumed this instance up to `head`.
    public var frontier: [String: Int64]
    public var lastCommit: Instant?
    public var busySince: Instant?
    public var memoryBytes: Int64
    /// Processor time of the process since it began, microseconds.
    public var processorTime: Instant?
    /// When the process began, by the clock.
    public var started: Instant?
    /// What the stage has done since then; nil for what is no stage.
    public var turns: Turns?
    /// Names what it was started with: `StackConfiguration.Instance.fingerprint`.
    public var configuration: String?
    public var details: [String: Value]

    public init(
        instance: String, plugin: String, phase: String, pid: Int, epoch: Int64 = 0, head: StoreHead? = nil,
        heads: [String: Int64] = [:], frontier: [String: Int64] = [:], lastCommit: Instant? = nil,
        busySince: Instant? = nil,
        memoryBytes: Int64 = 0, processorTime: Instant? = nil, started: Instant? = nil, turns: Turns? = nil,
        configuration: String? = nil, details: [String: Value] = [:]
    ) {
        self.instance = instance
        self.plugin = plugin
        self.phase = phase
        self.pid = pid
        self.epoch = epoch
        self.head = head
        self.heads = heads
        self.frontier = frontier
        self.lastCommit = lastCommit
        self.busySince = busySince
        self.memoryBytes = memoryBytes
        self.processorTime = processorTime
        self.started = started
        self.turns = turns
        self.configuration = configuration
        self.details = details
    }

    /// Turns so far: how many, and how long they took together.
    public struct Turns: Sendable, Equatable {
        public var count: Int64
        /// Microseconds.
        public var busy: Instant

        public init(count: Int64, busy: Instant) {
            self.count = count
            self.busy = busy
        }
    }

    public static func topic(_ instance: String) -> String { "heartbeat.\(instance)" }

    public func message(at now: Instant) -> Message {
        var body: [String: Value] = [
            "plugin": .string(plugin), "phase": .string(phase), "pid": .integer(Int64(pid)), "epoch": .integer(epoch),
            "memory": .integer(memoryBytes), "details": .object(details),
        ]
        if let head { body["head"] = head.wireValue }
        if !heads.isEmpty { body["heads"] = .object(heads.mapValues { .integer($0) }) }
        if !frontier.isEmpty { body["frontier"] = .object(frontier.mapValues { .integer($0) }) }
        if let lastCommit { body["lastCommit"] = .integer(lastCommit) }
        if let processorTime { body["cpu"] = .integer(processorTime) }
        if let started { body["started"] = .integer(started) }
        if let turns { body["turns"] = ["count": .integer(turns.count), "busy": .integer(turns.busy)] }
        if let configuration { body["configuration"] = .string(configuration) }
        if let busySince { body["busySince"] = .integer(busySince) }
        return Message(
            topic: Self.topic(instance), header: .init(from: instance, at: now), body: .object(body))
    }

    /// nil when the message isn't a heartbeat.
    public init?(_ message: Message) {
        let prefix = "heartbeat."
        guard message.topic.hasPrefix(prefix), let plugin = message.body["plugin"].string,
            let phase = message.body["phase"].string, let pid = message.body["pid"].int
        else { return nil }
        self.init(
            instance: String(message.topic.dropFirst(prefix.count)), plugin: plugin, phase: phase, pid: Int(pid),
            epoch: message.body["epoch"].int ?? 0, head: StoreHead(wireValue: message.body["head"]),
            heads: (message.body["heads"].object ?? [:]).compactMapValues(\.int),
            frontier: (message.body["frontier"].object ?? [:]).compactMapValues(\.int),
            lastCommit: message.body["lastCommit"].int, busySince: message.body["busySince"].int,
            memoryBytes: message.body["memory"].int ?? 0, processorTime: message.body["cpu"].int,
            started: message.body["started"].int,
            turns: message.body["turns"]["count"].int.flatMap { count in
                message.body["turns"]["busy"].int.map { Turns(count: count, busy: $0) }
            },
            configuration: message.body["configuration"].string, details: message.body["details"].object ?? [:])
    }
}
