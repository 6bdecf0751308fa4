import Synchronization

/// How many are still wanted; from any thread.
package final class Countdown: Sendable {
    private let left: Mutex<Int>

    package init(_ count: Int) { left = Mutex(count) }

    /// False when none is wanted any more.
    package func take() -> Bool {
        left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }

    package var isOver: Bool { left.withLock { $0 == 0 } }
}
