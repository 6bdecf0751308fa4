import HealthModel

/// What a process says that stands by to take an instance's place, on `standby.<instance>`: nobody else on the bus takes it for the instance.
public struct StandbyWord: Codable, Sendable, Equatable {
    public enum Phase: String, Codable, Sendable {
        /// Configuration checked; what belongs to it is started and tried.
        case checking
        /// Warm, and waits to be told.
        case waiting
        /// It can't; it ends.
        case failed
    }

    /// From the topic.
    public var instance = ""
    /// Which swap it belongs to.
    public var swap: String
    public var plugin: String
    public var pid: Int
    public var phase: Phase
    /// Of a handler that waits.
    public var trial: TrialReport?
    /// Why it can't.
    public var why: String?

    public init(
        instance: String, swap: String, plugin: String, pid: Int, phase: Phase, trial: TrialReport? = nil,
        why: String? = nil
    ) {
        self.instance = instance
        self.swap = swap
        self.plugin = plugin
        self.pid = pid
        self.phase = phase
        self.trial = trial
        self.why = why
    }

    public static let prefix = "standby."

    private enum CodingKeys: CodingKey { case swap, plugin, pid, phase, trial, why }

    public func message(at now: Instant) -> Message {
        Message(topic: Self.prefix + instance, header: .init(from: instance, at: now), body: Value(self))
    }

    /// nil when the message isn't one.
    public init?(_ message: Message) {
        guard message.topic.hasPrefix(Self.prefix), let word = message.body.read(StandbyWord.self) else { return nil }
        self = word
        instance = String(message.topic.dropFirst(Self.prefix.count))
    }
}
