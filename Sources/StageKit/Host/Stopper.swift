import CPosix
import Client
import Foundation
import Logging
import Synchronization

/// Listens for SIGTERM and SIGINT.
package final class Stopper: Sendable {
    private struct State {
        var asked = false
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() throws {
        let descriptor = healthbus_catch_signals()
        guard descriptor >= 0 else {
            throw Failure("can't listen for signals: \(String(cString: strerror(-descriptor)))")
        }
        Thread.begin("signals") { [self] in
            var signal: UInt8 = 0
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while true {
                _ = poll(&waiting, 1, -1)
                guard read(descriptor, &signal, 1) == 1 else { continue }
                let action = state.withLock { state in
                    state.asked = true
                    return state.action
                }
                action?()
            }
        }
    }

    /// Blocks the calling thread until the process is asked to stop.
    package func wait() {
        let asked = DispatchSemaphore(value: 0)
        whenAsked { asked.signal() }
        asked.wait()
    }

    package var isAsked: Bool { state.withLock { $0.asked } }

    /// Calls `action` when the process is asked to stop, or at once if it already has been.
    package func whenAsked(_ action: @escaping @Sendable () -> Void) {
        let already = state.withLock { state in
            state.action = action
            return state.asked
        }
        if already { action() }
    }
}
