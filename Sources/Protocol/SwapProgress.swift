import HealthModel

/// The state of a swap, as the supervisor's heartbeat reports it.
package struct SwapProgress: Codable, Sendable, Equatable {
    package enum Step: String, Codable, Sendable {
        /// The new process has been started and is being tried while the old one is still running.
        case trying
        /// The old process drains; the new one takes its place.
        case switching
        case done
        /// Nothing was changed.
        case refused
        /// The new process wasn't ready; the old one is running again.
        case failed

        package var isOver: Bool { self != .trying && self != .switching }
    }

    package var id: String
    package var instance: String
    /// The plugins, by name or folder.
    package var from: String
    package var to: String
    package var step: Step
    /// Whether it is only a trial.
    package var dryRun: Bool
    /// For a handler, the report on its trial, once it has been tried.
    package var trial: TrialReport?
    /// How long neither process was running, in microseconds.
    package var without: Int64?
    package var problem: String?
    package var hint: String?

    /// - Parameters:
    ///   - plugin: the plugin that is to take over, if known.
    package init(id: String, instance: String, plugin: String, isTrial: Bool) {
        self.id = id
        self.instance = instance
        from = ""
        to = plugin
        step = .trying
        dryRun = isTrial
    }
}
