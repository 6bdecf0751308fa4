import Glibc

/// A process to supervise: what to run, when to start it, and what to do when it ends.
package struct ProcessSpec: Sendable, Equatable {
    /// Unique within a supervisor.
    package var name: String
    /// Path of the program; PATH isn't searched.
    package var executable: String
    /// Excluding the program's own name.
    package var arguments: [String]
    /// Appended to the arguments once the process has been ready: by the time it is restarted, another process may have
    /// taken its place.
    package var argumentsOnceReady: [String]
    /// Its working directory; nil for the supervisor's own. If it is given, the executable's path must be absolute.
    package var directory: String?
    /// Overrides the supervisor's own environment.
    package var environment: [String: String]
    /// Groups start in ascending order, each once the previous one is ready, and stop in descending order.
    package var group: Int
    package var restart: RestartPolicy
    /// How long the next group waits for this process; after that, the delay is reported, and the rest start without
    /// waiting for it.
    package var readyWithin: Duration
    /// How long the process may drain after SIGTERM before it gets SIGKILL.
    package var stopWithin: Duration
    /// The signal sent to the process when the supervisor dies. SIGKILL by default: a stopped or hanging process would
    /// survive any other.
    package var parentDeathSignal: Int32
    /// How far the process yields the processor to others (nice(2)), from 0 (not at all) to 19.
    package var niceness: Int
    package var streams: ChildProcess.Streams

    package init(
        name: String, executable: String, arguments: [String] = [], argumentsOnceReady: [String] = [],
        directory: String? = nil, environment: [String: String] = [:], group: Int = 0,
        restart: RestartPolicy = RestartPolicy(), readyWithin: Duration = .seconds(30),
        stopWithin: Duration = .seconds(10), parentDeathSignal: Int32 = SIGKILL,
        niceness: Int = 0, streams: ChildProcess.Streams = ChildProcess.Streams()
    ) {
        (self.name, self.executable, self.arguments) = (name, executable, arguments)
        (self.argumentsOnceReady, self.directory, self.environment) = (argumentsOnceReady, directory, environment)
        (self.group, self.restart, self.readyWithin, self.stopWithin) = (group, restart, readyWithin, stopWithin)
        (self.parentDeathSignal, self.niceness, self.streams) = (parentDeathSignal, niceness, streams)
    }
}
