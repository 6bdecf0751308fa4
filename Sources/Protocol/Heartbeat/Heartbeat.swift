import HealthModel

/// What every instance sends as soon as it has advanced, and repeats (`Repetition`): its identity, its position, and
/// how much of its upstreams it has consumed.
package struct Heartbeat: Sendable, Equatable {
    /// Taken from the topic.
    package var instance = ""
    package var plugin: String
    package var phase: Phase
    package var pid: Int
    package var epoch: Int64
    package var head: StoreHead?
    /// The latest sequence by sample type, read together with `head`; only from the observer.
    @IfAny package var heads: [String: SequenceNumber]
    /// How far each upstream has been consumed, outputs included; holds for any reader that has consumed this instance
    /// up to `head`.
    @IfAny package var frontier: [String: SequenceNumber]
    package var lastCommit: Instant?
    package var busySince: Instant?
    /// Resident memory in bytes.
    package var memory: Int64
    /// Processor time that the process has used since it began, in microseconds.
    package var cpu: Int64?
    /// When the process began, by the wall clock.
    package var started: Instant?
    /// The work that the stage has done since the process began; nil if the instance isn't a stage.
    package var turns: Turns?
    /// Identifies what it was started with: `StackConfiguration.Instance.fingerprint`.
    package var configuration: String?
    package var details: HeartbeatDetails

    package enum Phase: String, Codable, Sendable {
        /// Its own heartbeat hasn't come back over the bus yet.
        case running
        case ready
        case stopped
    }

    /// Turns so far: how many, and how long they took in total.
    package struct Turns: Codable, Sendable, Equatable {
        package var count: Int64
        /// Microseconds.
        package var busy: Int64

        package init(count: Int64, busy: Int64) { (self.count, self.busy) = (count, busy) }
    }

    package init(
        instance: String, plugin: String, phase: Phase, pid: Int, epoch: Int64 = 0, head: StoreHead? = nil,
        heads: [String: SequenceNumber] = [:], frontier: [String: SequenceNumber] = [:], lastCommit: Instant? = nil,
        busySince: Instant? = nil, memory: Int64 = 0, cpu: Int64? = nil, started: Instant? = nil,
        turns: Turns? = nil, configuration: String? = nil, details: HeartbeatDetails = HeartbeatDetails()
    ) {
        (self.instance, self.plugin, self.phase, self.pid, self.epoch) = (instance, plugin, phase, pid, epoch)
        (self.head, self.heads, self.frontier, self.lastCommit) = (head, heads, frontier, lastCommit)
        (self.busySince, self.memory, self.cpu, self.started, self.turns) = (busySince, memory, cpu, started, turns)
        (self.configuration, self.details) = (configuration, details)
    }
}

extension Heartbeat: Codable {
    private enum CodingKeys: CodingKey {
        case plugin, phase, pid, epoch, head, heads, frontier, lastCommit, busySince, memory, cpu, started, turns,
            configuration, details
    }
}

extension Heartbeat {
    package static func topic(_ instance: String) -> String { "heartbeat.\(instance)" }

    package func message(at now: Instant) -> Message {
        Message(topic: Self.topic(instance), header: .init(from: instance, at: now), body: Value(self))
    }

    /// nil when the message isn't a heartbeat.
    package init?(_ message: Message) {
        let prefix = "heartbeat."
        guard message.topic.hasPrefix(prefix), let beat = message.body.read(Heartbeat.self) else { return nil }
        self = beat
        instance = String(message.topic.dropFirst(prefix.count))
    }
}
