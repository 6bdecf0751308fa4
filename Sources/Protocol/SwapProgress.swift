import HealthModel

/// How a swap stands, as the supervisor's heartbeat tells it.
public struct SwapProgress: Codable, Sendable, Equatable {
    public enum Step: String, Codable, Sendable {
        /// The new one is started and tried, beside the old one.
        case trying
        /// The old one drains; the new one takes its place.
        case switching
        case done
        /// Nothing has changed.
        case refused
        /// The new one wasn't ready; the old one runs again.
        case failed

        public var isOver: Bool { self != .trying && self != .switching }
    }

    public var id: String
    public var instance: String
    /// Plugins by name, or by their folders.
    public var from: String
    public var to: String
    public var step: Step
    /// Only tried.
    public var dryRun: Bool
    /// Of a handler, once it was tried.
    public var trial: TrialReport?
    /// How long neither of them ran, microseconds.
    public var without: Instant?
    public var problem: String?
    public var hint: String?

    /// - Parameters:
    ///   - plugin: what is to take the place, as far as that is known.
    public init(id: String, instance: String, plugin: String, isTrial: Bool) {
        self.id = id
        self.instance = instance
        from = ""
        to = plugin
        step = .trying
        dryRun = isTrial
    }
}
