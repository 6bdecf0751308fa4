import Foundation
import HealthModel
import Wire

/// What a process says that stands by to take an instance's place, on `standby.<instance>`: nobody else on the bus takes it for the instance.
public struct StandbyWord: Sendable, Equatable {
    public enum Phase: String, Sendable {
        /// Configuration checked; what belongs to it is started and tried.
        case checking
        /// Warm, and waits to be told.
        case waiting
        /// It can't; it ends.
        case failed
    }

    public var instance: String
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

    public func message(at now: Instant) -> Message {
        var body: [String: Value] = [
            "swap": .string(swap), "plugin": .string(plugin), "pid": .integer(Int64(pid)),
            "phase": .string(phase.rawValue),
        ]
        body["trial"] = trial?.wireValue
        body["why"] = why.map { .string($0) }
        return Message(
            topic: Self.prefix + instance, header: .init(from: instance, at: now), body: .object(body))
    }

    /// nil when the message isn't one.
    public init?(_ message: Message) {
        let body = message.body
        guard message.topic.hasPrefix(Self.prefix), let swap = body["swap"].string, let plugin = body["plugin"].string,
            let pid = body["pid"].int, let phase = body["phase"].string.flatMap({ Phase(rawValue: $0) })
        else { return nil }
        self.init(
            instance: String(message.topic.dropFirst(Self.prefix.count)), swap: swap, plugin: plugin, pid: Int(pid),
            phase: phase, trial: TrialReport(wireValue: body["trial"]), why: body["why"].string)
    }
}
