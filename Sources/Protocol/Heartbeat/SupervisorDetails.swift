import HealthModel

/// What a supervisor reports besides being there.
package struct SupervisorDetails: Codable, Sendable, Equatable {
    package struct Process: Codable, Sendable, Equatable {
        package var name: String
        /// In the supervisor's own words: "waiting", "starting", "ready", …
        package var state: String
        /// nil while it isn't running.
        @OrNull package var pid: Int?
        /// How often it was restarted after its first start.
        package var restarts: Int
        /// How it last ended; nil if it never has.
        @OrNull package var lastExit: String?

        package init(name: String, state: String, pid: Int?, restarts: Int, lastExit: String?) {
            self.name = name
            self.state = state
            self.pid = pid
            self.restarts = restarts
            self.lastExit = lastExit
        }
    }

    package var processes: [Process]
    /// The swaps requested so far and their states: the last eight, newest last.
    package var swaps: [SwapProgress]

    package init(processes: [Process], swaps: [SwapProgress]) {
        self.processes = processes
        self.swaps = swaps
    }
}
