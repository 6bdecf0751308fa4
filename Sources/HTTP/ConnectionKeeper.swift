import Dispatch
import Foundation
import Glibc
import Synchronization

/// Carries out the connection table's decisions: shuts down each connection whose time is up, or that has to make way.
///
/// A socket is shut down, not closed: libmicrohttpd, which owns it, sees the end and closes it on its own thread.
/// Shutting down takes the same lock as `closed`, so the socket's number can't already refer to a different connection.
final class ConnectionKeeper: Sendable {
    private struct State {
        var table: ConnectionTable
        /// When the thread will wake.
        var wakesAt = Double.infinity
        var isStopped = false
    }

    private let state: Mutex<State>
    private let alarm = DispatchSemaphore(value: 0)
    private let finished = DispatchSemaphore(value: 0)

    init(limits: HTTPServer.Limits) { state = Mutex(State(table: ConnectionTable(limits: limits))) }

    func start() {
        let thread = Thread { [self] in
            run()
            finished.signal()
        }
        thread.name = "http limits"
        thread.start()
    }

    func stop() {
        state.withLock { $0.isStopped = true }
        alarm.signal()
        finished.wait()
    }

    private func run() {
        while true {
            let seconds: Double? = state.withLock { state in
                guard !state.isStopped else { return nil }
                let now = monotonicSeconds()
                for socket in state.table.overdue(at: now) { Self.end(socket) }
                state.wakesAt = state.table.nextDeadline ?? .infinity
                return state.wakesAt - now
            }
            guard let seconds else { return }
            // The time is rounded up, so that the thread doesn't wake a moment too early and find nothing to do.
            _ = alarm.wait(timeout: seconds == .infinity ? .distantFuture : .now() + max(0, seconds) + 0.01)
        }
    }

    private static func end(_ socket: Int32) { shutdown(socket, Int32(SHUT_RDWR)) }

    func opened(_ socket: Int32, peer: UInt64) {
        change { table, now in
            if let leaving = table.opened(socket, peer: peer, at: now) { Self.end(leaving) }
        }
    }

    func enters(_ phase: ConnectionTable.Phase, _ socket: Int32) { change { $0.enters(phase, socket, at: $1) } }

    func trust(_ socket: Int32) { state.withLock { $0.table.trust(socket) } }

    func closed(_ socket: Int32) { state.withLock { $0.table.closed(socket) } }

    private func change(_ body: (inout ConnectionTable, Double) -> Void) {
        let isEarlier = state.withLock { state in
            body(&state.table, monotonicSeconds())
            // Usually a deadline only moves further away, and the thread can keep sleeping.
            guard let next = state.table.nextDeadline, next < state.wakesAt else { return false }
            state.wakesAt = next
            return true
        }
        if isEarlier { alarm.signal() }
    }
}
