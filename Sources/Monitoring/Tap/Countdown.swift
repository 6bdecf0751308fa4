import Synchronization

/// How many messages are still wanted; usable from any thread.
package final class Countdown: Sendable {
    private let left: Mutex<Int>

    package init(_ count: Int) { left = Mutex(count) }

    /// Returns false when no more are wanted.
    package func take() -> Bool {
        left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }

    package var isOver: Bool { left.withLock { $0 == 0 } }
}
