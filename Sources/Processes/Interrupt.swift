import CPosix
import Glibc

/// Ctrl-C and SIGTERM, for a command that looks for them now and then; a second one ends it at once.
package final class Interrupt {
    /// Negative where they can't be caught: they end the command then, as ever.
    private let descriptor = healthbus_catch_signals()
    private var isOver = false

    package init() {}

    deinit { release() }

    private func release() {
        if descriptor >= 0, !isOver { healthbus_release_signals() }
        isOver = true
    }

    /// Whether one has come by now.
    package var hasCome: Bool {
        var byte: UInt8 = 0
        guard !isOver, descriptor >= 0, read(descriptor, &byte, 1) == 1 else { return isOver }
        release()
        return true
    }
}
