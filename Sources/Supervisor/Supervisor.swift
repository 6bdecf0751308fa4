import CPosix
import Glibc
import Processes
import Synchronization

/// Runs processes: starts them in order, restarts them when they end, and stops them in reverse order.
///
/// All effects happen on the thread that calls `run` and blocks it; all other methods may be called from any thread.
/// `SupervisionTree` decides what to do.
package final class Supervisor: Sendable {
    /// Whether this run of a process has reported that it is ready. Called on the running thread while any process is
    /// starting, every 20 ms (after 10 s: every 500 ms), so it must only consult what is already known.
    package typealias IsReady = @Sendable (_ name: String, _ pid: pid_t) -> Bool
    package typealias OnEvent = @Sendable (SupervisorNotice) -> Void

    let tree: Mutex<SupervisionTree>
    let trampoline: String
    let isReady: IsReady
    let onEvent: OnEvent
    private let requests = Mutex<[SupervisionTree.Event]>([])
    /// An eventfd that wakes the running thread.
    let wakeUp: Int32

    /// - Parameters:
    ///   - held: processes that stay down until they are started by name.
    ///   - trampoline: the path of `healthbus-trampoline`; nil to look for it next to the running program.
    ///   - generator: the source of the back-off's jitter.
    ///   - onEvent: receives everything that a person may want to know; called on the running thread.
    /// - Throws: `ProcessError` when two processes have the same name or the trampoline is missing.
    package init(
        _ specs: [ProcessSpec], held: Set<String> = [], trampoline: String? = nil,
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        isReady: @escaping IsReady, onEvent: @escaping OnEvent = { _ in }
    ) throws(ProcessError) {
        let path = trampoline ?? ChildProcess.trampolineBesideProgram()
        let tree = try SupervisionTree(specs, held: held, generator: generator)
        guard access(path, X_OK) == 0 else {
            throw ProcessError(
                .spawn, "can't run \(path)", errorNumber: errno,
                hint: "healthbus-trampoline must be beside the other programs; build all of them")
        }
        let descriptor = healthbus_wake_open()
        guard descriptor >= 0 else {
            throw ProcessError(.system, "can't make an eventfd", errorNumber: -descriptor)
        }
        self.tree = Mutex(tree)
        self.trampoline = path
        (self.isReady, self.onEvent) = (isReady, onEvent)
        wakeUp = descriptor
    }

    deinit { close(wakeUp) }

    package var statuses: [ProcessStatus] { tree.withLock { $0.statuses } }

    /// Stops everything in reverse order; `run` then returns.
    package func stop() { request(.stop) }
    /// Kills all processes at once.
    package func killAll() { request(.kill) }
    /// Stops one process, which then stays down.
    package func stop(_ name: String) { request(.stopProcess(name: name)) }
    /// Starts one process that is down or waiting for its next start.
    package func start(_ name: String) { request(.startProcess(name: name)) }
    /// Stops a process and starts it with the specification; if its name is new, adds it.
    package func replace(_ spec: ProcessSpec) { request(.replace(spec)) }
    /// Starts a process that waits beside another to replace it.
    /// - Parameter settled: the specification that applies once the process has taken over, with the name of the
    ///   replaced process.
    package func standBy(_ spec: ProcessSpec, becoming settled: ProcessSpec) {
        request(.standBy(spec, becoming: settled))
    }
    /// Ends the process to be replaced, and signals the waiting one with SIGUSR1. That one has this long to become
    /// ready; otherwise the old process is started again.
    package func promote(_ name: String, within: Duration) { request(.promote(name: name, within: within)) }
    /// Reports at once that this process is ready, without waiting for the next check of `isReady`.
    package func noteReady(_ name: String) { request(.ready(name: name)) }

    private func request(_ event: SupervisionTree.Event) {
        requests.withLock { $0.append(event) }
        healthbus_wake(wakeUp)
    }

    func takeRequests() -> [SupervisionTree.Event] {
        healthbus_wake_clear(wakeUp)
        return requests.withLock { waiting in
            defer { waiting.removeAll() }
            return waiting
        }
    }
}
