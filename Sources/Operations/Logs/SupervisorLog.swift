import Console
import Foundation
import Glibc
import Supervisor

/// What the supervisor does, as events in a log of its own: starts, ends and why, beside what the processes say themselves.
struct SupervisorLog: Sendable {
    private let log: Log

    /// - Throws: `Failure` when the file can't be written.
    init(path: String) throws(Failure) {
        // Open as long as the process lives.
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0, let file = LogFile(path: path, descriptor: descriptor) else {
            throw Failure("can't write \(path)", hint: "check the folder's rights and the disk's room")
        }
        log = try Log(plugin: "supervisor").writing { file.write($0) }
    }

    func note(_ notice: SupervisorNotice) {
        let event = Self.event(notice)
        log.event(event.name, category: "process", level: event.level, fields: event.fields)
    }

    private typealias Event = (name: String, level: Log.Level, fields: [(String, LogValue)])

    private static func event(_ notice: SupervisorNotice) -> Event {
        switch notice {
        case .started(let name, let pid):
            ("process.started", .info, [("instance", .text(name)), ("pid", .integer(pid))])
        case .ready(let name): ("process.ready", .info, [("instance", .text(name))])
        case .notReady(let name, let after):
            ("process.late", .warning, [("instance", .text(name)), ("seconds", .duration(after))])
        case .startFailed(let name, let reason):
            ("process.unstartable", .error, [("instance", .text(name)), ("why", .text(reason))])
        case .exited(let name, let status, let failures):
            (
                "process.ended", .error,
                [("instance", .text(name)), ("status", .text("\(status)")), ("failures", .integer(failures))]
            )
        case .restarting(let name, let delay):
            ("process.restarting", .notice, [("instance", .text(name)), ("seconds", .duration(delay))])
        case .gaveUp(let name, let failures):
            ("process.givenUp", .error, [("instance", .text(name)), ("failures", .integer(failures))])
        case .stopped(let name, let status):
            ("process.stopped", .info, [("instance", .text(name)), ("status", .text("\(status)"))])
        case .standbyEnded(_, let place, let why):
            ("standby.ended", .warning, [("instance", .text(place)), ("why", .text(why))])
        case .tookPlace(let place, let pid, let after):
            (
                "process.replaced", .notice,
                [("instance", .text(place)), ("pid", .integer(pid)), ("seconds", .duration(after))]
            )
        case .killed(let name): ("process.killed", .warning, [("instance", .text(name))])
        case .stopping: ("stack.stopping", .info, [])
        case .finished: ("stack.stopped", .info, [])
        }
    }
}
