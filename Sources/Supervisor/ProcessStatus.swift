import Glibc
import Processes

/// Where a supervised process is in its life.
package enum ProcessState: String, Sendable, Codable {
    /// Its group's turn hasn't come.
    case waiting
    /// Runs, but hasn't reported ready.
    case starting
    case ready
    /// Runs beside the one whose place it is to take, and waits to be told.
    case standby
    /// Ended; starts again after a delay.
    case backoff
    /// Told to end.
    case stopping
    /// Ended as it should; stays down.
    case stopped
    /// Ended with an error; stays down.
    case failed
}

/// What is known of one supervised process.
package struct ProcessStatus: Sendable, Equatable {
    package var name: String
    package var state: ProcessState
    /// nil while it isn't running.
    package var pid: pid_t?
    /// Whose place it is to take; nil for one that has its own.
    package var place: String?
    /// How often it was started again after the first time.
    package var restarts: Int
    /// How it ended the last time; nil when it never did.
    package var lastExit: ProcessExit?

    package init(
        name: String, state: ProcessState, pid: pid_t?, place: String? = nil, restarts: Int, lastExit: ProcessExit?
    ) {
        self.name = name
        self.state = state
        self.pid = pid
        self.place = place
        self.restarts = restarts
        self.lastExit = lastExit
    }
}

/// Something that a person who watches the supervisor wants to hear.
package enum SupervisorNotice: Sendable, Equatable {
    case started(name: String, pid: pid_t)
    case ready(name: String)
    /// Not ready in time: the groups after it start without it.
    case notReady(name: String, after: Duration)
    case startFailed(name: String, reason: String)
    /// Ended by itself; `failures` in a row so far.
    case exited(name: String, status: ProcessExit, failures: Int)
    /// Starts again after `delay`.
    case restarting(name: String, delay: Duration)
    /// Stays down after so many failures in a row.
    case gaveUp(name: String, failures: Int)
    /// Ended because it was told to.
    case stopped(name: String, status: ProcessExit)
    /// One that stood by has ended, or couldn't be started, without having taken the place of the other.
    case standbyEnded(name: String, place: String, why: String)
    /// One that stood by is ready in the place of the other, so long after that one had ended.
    case tookPlace(place: String, pid: pid_t, after: Duration)
    /// Didn't end in time after SIGTERM.
    case killed(name: String)
    case stopping
    case finished
}

extension SupervisorNotice: CustomStringConvertible {
    /// One line for people: "steps ended with signal 9 (Killed)".
    package var description: String {
        switch self {
        case .started(let name, let pid): "\(name) started (process \(pid))"
        case .ready(let name): "\(name) is ready"
        case .notReady(let name, let after): "\(name) isn't ready after \(after); going on without it"
        case .startFailed(let name, let reason): "\(name) couldn't be started: \(reason)"
        case .exited(let name, let status, let failures):
            "\(name) ended with \(status)" + (failures > 1 ? ", failure \(failures) in a row" : "")
        case .restarting(let name, let delay): "\(name) starts again in \(delay)"
        case .gaveUp(let name, let failures): "\(name) stays down after \(failures) failures in a row"
        case .stopped(let name, let status): "\(name) stopped (\(status))"
        case .standbyEnded(_, let place, let why): "the one to take \(place)'s place: \(why)"
        case .tookPlace(let place, let pid, let after):
            "\(place) was swapped: process \(pid) took its place, \(Int(after / .milliseconds(1))) ms after its end"
        case .killed(let name): "\(name) didn't stop in time and was killed"
        case .stopping: "stopping"
        case .finished: "all stopped"
        }
    }
}
