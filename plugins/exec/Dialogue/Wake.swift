import CPosix
import Glibc

/// Becomes readable at the first signal, and stays so.
package final class Wake: Sendable {
    package let descriptor: Int32

    package init() throws(ExecFailure) {
        descriptor = healthbus_wake_open()
        guard descriptor >= 0 else {
            throw .cantStart("no descriptor to wake a thread with: \(String(cString: strerror(-descriptor)))")
        }
    }

    package func signal() { healthbus_wake(descriptor) }

    /// Waits; returns true when it was signalled.
    package func isSignalled(within duration: Duration) -> Bool {
        var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&polled, 1, Int32(clamping: Int(duration / .milliseconds(1))))
        return polled.revents != 0
    }

    deinit { close(descriptor) }
}
