import Glibc

/// A process to supervise: what to run, when to start it, and what to do when it ends.
package struct ProcessSpec: Sendable, Equatable {
    /// Unique among the processes of a supervisor.
    package var name: String
    /// Path of the program; not searched for in PATH.
    package var executable: String
    /// Without the program's own name.
    package var arguments: [String]
    /// Laid behind them once it has been ready: what is started again may meet somebody else in its place.
    package var argumentsOnceReady: [String]
    /// Where it starts; nil: where the supervisor is. The executable's path must be absolute then.
    package var directory: String?
    /// Laid over the supervisor's own environment.
    package var environment: [String: String]
    /// Groups start in rising order, each when the one before is ready, and stop in falling order.
    package var group: Int
    package var restart: RestartPolicy
    /// How long the next group waits for this process; then it is reported and the rest starts without it.
    package var readyWithin: Duration
    /// How long it may drain after SIGTERM before SIGKILL.
    package var stopWithin: Duration
    /// What the process gets when the supervisor dies. SIGKILL by default: what is stopped or hung would outlive any other.
    package var parentDeathSignal: Int32
    package var streams: ChildProcess.Streams

    package init(
        name: String, executable: String, arguments: [String] = [], argumentsOnceReady: [String] = [],
        directory: String? = nil, environment: [String: String] = [:], group: Int = 0,
        restart: RestartPolicy = RestartPolicy(), readyWithin: Duration = .seconds(30),
        stopWithin: Duration = .seconds(10), parentDeathSignal: Int32 = SIGKILL,
        streams: ChildProcess.Streams = ChildProcess.Streams()
    ) {
        self.name = name
        self.executable = executable
        self.arguments = arguments
        self.argumentsOnceReady = argumentsOnceReady
        self.directory = directory
        self.environment = environment
        self.group = group
        self.restart = restart
        self.readyWithin = readyWithin
        self.stopWithin = stopWithin
        self.parentDeathSignal = parentDeathSignal
        self.streams = streams
    }
}
