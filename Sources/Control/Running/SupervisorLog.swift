import Foundation
import Glibc
import Logging
import StageKit
import Supervisor

/// What the supervisor does, as events in its own log: what it starts, what ends, and why. The processes' own logs are
/// separate.
struct SupervisorLog: Sendable {
    private let log: Log

    /// - Throws: `Failure` when the file can't be written.
    init(path: String) throws(Failure) {
        // The file stays open as long as the process lives.
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, let file = LogFile(path: path, descriptor: descriptor) else {
            throw Failure("can't write \(path)", hint: "check the folder's permissions and the disk's free space")
        }
        log = try Log(plugin: "supervisor").writing { file.write($0) }
    }

    func note(_ notice: SupervisorNotice) {
        switch notice {
        case .started(let name, let pid): log(.processStarted, ["instance": name, "pid": pid])
        case .ready(let name): log(.processReady, ["instance": name])
        case .notReady(let name, let after): log(.processLate, ["instance": name, "seconds": after])
        case .startFailed(let name, let reason): log(.processUnstartable, ["instance": name, "why": reason])
        case .exited(let name, let status, let failures):
            log(.processEnded, ["instance": name, "status": "\(status)", "failures": failures])
        case .restarting(let name, let delay): log(.processRestarting, ["instance": name, "seconds": delay])
        case .gaveUp(let name, let failures): log(.processGivenUp, ["instance": name, "failures": failures])
        case .stopped(let name, let status): log(.processStopped, ["instance": name, "status": "\(status)"])
        case .standbyEnded(_, let place, let why, let wasDismissed):
            log(.standbyEnded, failed: !wasDismissed, ["instance": place, "why": why])
        case .tookPlace(let place, let pid, let after):
            log(.processReplaced, ["instance": place, "pid": pid, "seconds": after])
        case .killed(let name): log(.processKilled, ["instance": name])
        case .stopping: log(.stackStopping)
        case .finished: log(.stackStopped)
        }
    }
}
