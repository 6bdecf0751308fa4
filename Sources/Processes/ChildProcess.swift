import CPosix
import Glibc
import Synchronization

/// A child that can't outlive its parent: it runs in its own process group, inherits only standard output and error,
/// and gets a signal when the parent ends, for whatever reason.
///
/// That signal is sent when the **thread** that started the child ends (`PR_SET_PDEATHSIG` in prctl(2)), so start
/// children from a thread that lives as long as they should: the main thread, or the thread that runs the supervisor;
/// never from the concurrency pool.
///
/// If a handle is dropped while its child is running, the child is killed and reaped.
package final class ChildProcess: Sendable {
    /// Where the child's standard streams go.
    package struct Streams: Sendable, Equatable {
        /// nil for /dev/null. Descriptors must be 3 or above; the caller closes its own copies.
        package var input: Int32?
        /// nil for the parent's own stream.
        package var output: Int32?
        /// nil for the parent's own stream.
        package var error: Int32?
        /// A file that receives standard error instead: opened at each start, appended to, and created (0600) if it
        /// doesn't exist.
        package var errorFile: String?

        package init(input: Int32? = nil, output: Int32? = nil, error: Int32? = nil, errorFile: String? = nil) {
            (self.input, self.output, self.error, self.errorFile) = (input, output, error, errorFile)
        }
    }

    package let pid: pid_t
    /// A pidfd: `poll` reports it as readable when the child has ended. Open as long as this object lives.
    package let descriptor: Int32
    private let outcome = Mutex<ProcessExit?>(nil)

    /// - Parameter trampoline: path of `healthbus-trampoline`.
    /// - Throws: `ProcessError` when the trampoline can't be run, or the program isn't an executable file. A program
    ///   that fails to start for another reason exits with code 127 and says why on standard error.
    package init(_ spec: ProcessSpec, trampoline: String) throws(ProcessError) {
        guard access(spec.executable, X_OK) == 0 else {
            throw ProcessError(
                .spawn, "can't start \(spec.name): \(spec.executable)", errorNumber: errno,
                hint: "check that the file exists and is executable")
        }
        let words =
            [
                trampoline, String(getpid()), String(spec.parentDeathSignal), String(spec.niceness), spec.executable,
            ] + spec.arguments
        let settings = Self.environment(overlaidWith: spec.environment).map { "\($0)=\($1)" }
        let streams = spec.streams
        let errorFile = try streams.errorFile.map(Self.openForAppending)
        defer { if let errorFile { close(errorFile) } }
        let result = withCStrings(words) { argv in
            withCStrings(settings) { envp in
                healthbus_spawn(
                    argv, envp, spec.directory, streams.input ?? -1, streams.output ?? -1,
                    errorFile ?? streams.error ?? -1)
            }
        }
        guard result > 0 else {
            throw ProcessError(
                .spawn, "can't start \(spec.name) with \(trampoline)", errorNumber: -result,
                hint: "check that healthbus-trampoline is beside the other programs")
        }
        pid = result
        descriptor = healthbus_pidfd_open(result)
        if descriptor < 0 {
            Glibc.kill(result, SIGKILL)
            var exit = healthbus_exit()
            healthbus_wait(result, 1, &exit)
            throw ProcessError(
                .system, "can't watch process \(result)", errorNumber: -descriptor,
                hint: "Linux 5.3 or newer and free file descriptors are needed")
        }
    }

    private static func openForAppending(_ path: String) throws(ProcessError) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ProcessError(
                .spawn, "can't write \(path)", errorNumber: errno,
                hint: "check the folder's permissions and the free disk space"
            )
        }
        return descriptor
    }

    deinit {
        guard descriptor >= 0 else { return }
        if outcome.withLock({ $0 == nil }) {
            kill()
            wait()
        }
        close(descriptor)
    }

    /// Sends a signal to the child only; returns false when it has already been reaped.
    @discardableResult
    package func signal(_ number: Int32) -> Bool { healthbus_pidfd_signal(descriptor, number) == 0 }

    /// Sends SIGKILL; anything that the child started is killed when the child is reaped.
    package func kill() { signal(SIGKILL) }

    /// How the process ended, after reaping it if necessary; nil while it is running.
    package func poll() -> ProcessExit? { reap(blocking: false) }

    /// Blocks the calling thread until the child has ended.
    @discardableResult
    package func wait() -> ProcessExit { reap(blocking: true) ?? .code(-1) }

    /// Blocks for at most this long; nil if the child is still running after that.
    package func wait(for timeout: Duration) -> ProcessExit? {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let deadline = ContinuousClock.now + timeout
        while true {
            let left = max(.zero, deadline - ContinuousClock.now)
            if Glibc.poll(&watched, 1, left.pollMilliseconds) >= 0 || errno != EINTR { return poll() }
        }
    }

    private func reap(blocking: Bool) -> ProcessExit? {
        if blocking {
            // Waits outside the lock, so that other threads can still poll and signal.
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while Glibc.poll(&watched, 1, -1) < 0, errno == EINTR {}
        }
        return outcome.withLock { known in
            if let known { return known }
            var exit = healthbus_exit()
            switch healthbus_wait(pid, blocking ? 1 : 0, &exit) {
            case 0: return nil
            case 1: known = exit.signal > 0 ? .signal(exit.signal) : .code(exit.code)
            // Other code has reaped the child: it has ended, but it isn't known how.
            default: known = .code(-1)
            }
            return known
        }
    }
}
