import HealthModel

/// The state of a swap, as the supervisor's heartbeat reports it.
package struct SwapProgress: Codable, Sendable, Equatable {
    package enum Step: String, Codable, Sendable {
        /// The swap is waiting for its turn, or the new process is being tried; the old one is still running.
        case trying
        /// The old process drains; the new one takes its place.
        case switching
        case done
        /// Nothing was changed.
        case refused
        /// The new process didn't become ready, or its plugin couldn't be recorded; the old one runs again, or
        /// is being restarted.
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
    /// From the end of the old process until the new one was ready, in microseconds.
    package var without: Int64?
    package var problem: String?
    package var hint: String?

    /// - Parameters:
    ///   - plugin: the plugin that is to take over, if known.
    package init(id: String, instance: String, plugin: String, isTrial: Bool) {
        (self.id, self.instance) = (id, instance)
        from = ""
        to = plugin
        step = .trying
        dryRun = isTrial
    }
}
