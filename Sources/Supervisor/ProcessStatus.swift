import Glibc
import Processes

/// The stage of its life cycle that a supervised process is in.
package enum ProcessState: String, Sendable, Codable {
    /// It isn't its group's turn yet.
    case waiting
    /// Running, but hasn't reported that it is ready.
    case starting
    case ready
    /// Running alongside the process that it is to replace, and waiting for the signal.
    case standby
    /// Ended; restarts after a delay.
    case backoff
    /// Asked to end.
    case stopping
    /// Ended as intended; stays down.
    case stopped
    /// Ended with an error; stays down.
    case failed
}

/// What is known about one supervised process.
package struct ProcessStatus: Sendable, Equatable {
    package var name: String
    package var state: ProcessState
    /// nil while it isn't running.
    package var pid: pid_t?
    /// The process that it is to replace; nil for a process that has a place of its own.
    package var place: String?
    /// How often it has been restarted since its first start.
    package var restarts: Int
    /// How it last ended; nil if it has never ended.
    package var lastExit: ProcessExit?
}

/// Something that a person watching the supervisor would want to know.
package enum SupervisorNotice: Sendable, Equatable {
    case started(name: String, pid: pid_t)
    case ready(name: String)
    /// Not ready in time, so the groups after it start without it.
    case notReady(name: String, after: Duration)
    case startFailed(name: String, reason: String)
    /// Ended on its own; this is the `failures`th failure in a row.
    case exited(name: String, status: ProcessExit, failures: Int)
    /// Restarts after `delay`.
    case restarting(name: String, delay: Duration)
    /// Stays down after this many consecutive failures.
    case gaveUp(name: String, failures: Int)
    /// Ended because it was asked to.
    case stopped(name: String, status: ProcessExit)
    /// A standby process ended, or couldn't be started, without having replaced the running one; `wasDismissed` is true
    /// if it was asked to end, and did so cleanly.
    case standbyEnded(name: String, place: String, why: String, wasDismissed: Bool = false)
    /// A standby process has taken the other's place and is ready. The time is how long ago the other process ended.
    case tookPlace(place: String, pid: pid_t, after: Duration)
    /// Didn't end in time after SIGTERM.
    case killed(name: String)
    case stopping
    case finished
}

extension SupervisorNotice: CustomStringConvertible {
    /// One human-readable line: "steps ended with signal 9 (Killed)".
    package var description: String {
        switch self {
        case .started(let name, let pid): "\(name) started (process \(pid))"
        case .ready(let name): "\(name) is ready"
        case .notReady(let name, let after): "\(name) isn't ready after \(after); continuing without it"
        case .startFailed(let name, let reason): "\(name) couldn't be started: \(reason)"
        case .exited(let name, let status, let failures):
            "\(name) ended with \(status)" + (failures > 1 ? ", failure \(failures) in a row" : "")
        case .restarting(let name, let delay): "\(name) will be restarted in \(delay)"
        case .gaveUp(let name, let failures): "\(name) stays down after \(failures) failures in a row"
        case .stopped(let name, let status): "\(name) stopped (\(status))"
        case .standbyEnded(_, let place, let why, _): "the replacement for \(place): \(why)"
        case .tookPlace(let place, let pid, let after):
            "\(place) was swapped: process \(pid) took its place, \(Int(after / .milliseconds(1))) ms after its end"
        case .killed(let name): "\(name) didn't stop in time and was killed"
        case .stopping: "stopping"
        case .finished: "all stopped"
        }
    }
}
