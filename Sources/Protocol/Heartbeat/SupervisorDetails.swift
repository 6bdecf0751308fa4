import HealthModel

/// What a supervisor says beside that it is there.
public struct SupervisorDetails: Codable, Sendable, Equatable {
    public struct Process: Codable, Sendable, Equatable {
        public var name: String
        /// Of the supervisor's own words: "waiting", "starting", "ready", …
        public var state: String
        /// nil while it isn't running.
        @OrNull public var pid: Int?
        /// How often it was started again after the first time.
        public var restarts: Int
        /// How it ended the last time; nil when it never did.
        @OrNull public var lastExit: String?

        public init(name: String, state: String, pid: Int?, restarts: Int, lastExit: String?) {
            self.name = name
            self.state = state
            self.pid = pid
            self.restarts = restarts
            self.lastExit = lastExit
        }
    }

    public var processes: [Process]
    /// Those that were asked for, and how they stand: the last eight, the newest last.
    public var swaps: [SwapProgress]

    public init(processes: [Process], swaps: [SwapProgress]) {
        self.processes = processes
        self.swaps = swaps
    }
}
