import HealthModel

/// What a supervisor reports apart from its presence.
package struct SupervisorDetails: Codable, Sendable, Equatable {
    package struct Process: Codable, Sendable, Equatable {
        package var name: String
        /// In the supervisor's own words: "waiting", "starting", "ready", …
        package var state: String
        /// nil while it isn't running.
        @OrNull package var pid: Int?
        /// How many times it was restarted after its first start.
        package var restarts: Int
        /// How it last ended; nil if it never has.
        @OrNull package var lastExit: String?

        package init(name: String, state: String, pid: Int?, restarts: Int, lastExit: String?) {
            (self.name, self.state, self.pid, self.restarts, self.lastExit) = (name, state, pid, restarts, lastExit)
        }
    }

    package var processes: [Process]
    /// The swaps requested so far and their states: the last eight, newest last.
    package var swaps: [SwapProgress]
    /// Instances that a person has stopped.
    @IfReadable package var stopped: [String]? = nil
    /// The outcomes of the latest requests about processes, the newest last.
    @IfReadable package var wishes: [WishOutcome]? = nil

    /// The outcome of a `ProcessWish` that was taken up.
    package struct WishOutcome: Codable, Sendable, Equatable {
        package var id: String
        /// Why it was refused; nil if it wasn't.
        package var problem: String?

        package init(id: String, problem: String?) { (self.id, self.problem) = (id, problem) }
    }

    package init(
        processes: [Process], swaps: [SwapProgress], stopped: [String]? = nil, wishes: [WishOutcome]? = nil
    ) {
        (self.processes, self.swaps, self.stopped, self.wishes) = (processes, swaps, stopped, wishes)
    }
}
