import HealthModel

/// What a supervisor says beside that it is there.
package struct SupervisorDetails: Codable, Sendable, Equatable {
    package struct Process: Codable, Sendable, Equatable {
        package var name: String
        /// Of the supervisor's own words: "waiting", "starting", "ready", …
        package var state: String
        /// nil while it isn't running.
        @OrNull package var pid: Int?
        /// How often it was started again after the first time.
        package var restarts: Int
        /// How it ended the last time; nil when it never did.
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
    /// Those that were asked for, and how they stand: the last eight, the newest last.
    package var swaps: [SwapProgress]

    package init(processes: [Process], swaps: [SwapProgress]) {
        self.processes = processes
        self.swaps = swaps
    }
}
