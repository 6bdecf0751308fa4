import CPosix
import Glibc

/// Ctrl-C and SIGTERM, for a command that checks from time to time whether they have arrived. Once it has noticed one,
/// the next signal ends the command at once.
package final class Interrupt {
    /// Negative if they can't be caught, in which case they end the command as usual.
    private let descriptor = healthbus_catch_signals()
    private var isOver = false

    package init() {}

    deinit { release() }

    private func release() {
        if descriptor >= 0, !isOver { healthbus_release_signals() }
        isOver = true
    }

    /// Whether a signal has arrived.
    package var hasCome: Bool {
        var byte: UInt8 = 0
        guard !isOver, descriptor >= 0, read(descriptor, &byte, 1) == 1 else { return isOver }
        release()
        return true
    }
}
