import CPosix
import Foundation
import Glibc

/// A program that is started and left to itself, in a session of its own, so that it outlives this one and its
/// terminal.
package enum DetachedProcess {
    package enum Outcome: Sendable, Equatable {
        case ready(pid_t)
        /// It ended before it was ready.
        case ended(ProcessExit)
        /// It is still starting.
        case late(pid_t)
    }

    /// Starts this same program again with different arguments, and waits until it says that it is ready.
    /// - Parameters:
    ///   - output: a file that receives its output, replacing any previous content.
    ///   - timeout: how long to wait for it.
    /// - Throws: `ProcessError` when it can't be started.
    package static func start(
        _ words: [String], output: String, within timeout: Duration
    ) throws(ProcessError) -> Outcome {
        let receiver = try ReadinessNotice.Receiver()
        let file = open(output, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 3 else {
            throw ProcessError(
                .spawn, "can't write \(output)", errorNumber: errno,
                hint: "check the folder's permissions and the free disk space")
        }
        defer { close(file) }
        let settings = ChildProcess.environment(overlaidWith: [ReadinessNotice.variable: receiver.name])
            .map { "\($0)=\($1)" }
        let program = "/proc/self/exe"
        let pid = withCStrings(
            [(try? FileManager.default.destinationOfSymbolicLink(atPath: program)) ?? program] + words
        ) {
            argv in withCStrings(settings) { healthbus_spawn_session(argv, $0, file) }
        }
        guard pid > 0 else { throw ProcessError(.spawn, "can't start \(program)", errorNumber: -pid) }
        let deadline = ContinuousClock.now + timeout
        while ContinuousClock.now < deadline {
            if receiver.wait(for: .milliseconds(100)) { return .ready(pid) }
            var exit = healthbus_exit()
            if healthbus_wait(pid, 0, &exit) == 1 {
                return .ended(exit.signal > 0 ? .signal(exit.signal) : .code(exit.code))
            }
        }
        return .late(pid)
    }
}
