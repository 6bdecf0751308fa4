import HealthModel

/// How a swap stands, as the supervisor's heartbeat tells it.
package struct SwapProgress: Codable, Sendable, Equatable {
    package enum Step: String, Codable, Sendable {
        /// The new one is started and tried, beside the old one.
        case trying
        /// The old one drains; the new one takes its place.
        case switching
        case done
        /// Nothing has changed.
        case refused
        /// The new one wasn't ready; the old one runs again.
        case failed

        package var isOver: Bool { self != .trying && self != .switching }
    }

    package var id: String
    package var instance: String
    /// Plugins by name, or by their folders.
    package var from: String
    package var to: String
    package var step: Step
    /// Only tried.
    package var dryRun: Bool
    /// Of a handler, once it was tried.
    package var trial: TrialReport?
    /// How long neither of them ran, microseconds.
    package var without: Int64?
    package var problem: String?
    package var hint: String?

    /// - Parameters:
    ///   - plugin: what is to take the place, as far as that is known.
    package init(id: String, instance: String, plugin: String, isTrial: Bool) {
        self.id = id
        self.instance = instance
        from = ""
        to = plugin
        step = .trying
        dryRun = isTrial
    }
}
