import HealthModel

/// What a process reports while it stands by to take an instance's place, on `standby.<instance>`, so that nobody on
/// the bus mistakes it for the instance.
package struct StandbyWord: Codable, Sendable, Equatable {
    package enum Phase: String, Codable, Sendable {
        /// Its configuration has been checked; its parts are being started and tried.
        case checking
        /// Ready, and waiting for the command to take over.
        case waiting
        /// It can't take over, and exits.
        case failed
    }

    /// From the topic.
    package var instance = ""
    /// The swap that it belongs to.
    package var swap: String
    package var plugin: String
    package var pid: Int
    package var phase: Phase
    /// Sent only by a handler that is waiting.
    package var trial: TrialReport?
    /// Why it can't take over.
    package var why: String?

    package init(
        instance: String, swap: String, plugin: String, pid: Int, phase: Phase, trial: TrialReport? = nil,
        why: String? = nil
    ) {
        (self.instance, self.swap, self.plugin, self.pid, self.phase) = (instance, swap, plugin, pid, phase)
        (self.trial, self.why) = (trial, why)
    }

    package static let prefix = "standby."

    private enum CodingKeys: CodingKey { case swap, plugin, pid, phase, trial, why }

    package func message(at now: Instant) -> Message {
        Message(topic: Self.prefix + instance, header: .init(from: instance, at: now), body: Value(self))
    }

    /// nil if the message isn't of this kind.
    package init?(_ message: Message) {
        guard message.topic.hasPrefix(Self.prefix), let word = message.body.read(StandbyWord.self) else { return nil }
        self = word
        instance = String(message.topic.dropFirst(Self.prefix.count))
    }
}
