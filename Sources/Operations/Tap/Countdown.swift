import Synchronization

/// How many are still wanted; from any thread.
public final class Countdown: Sendable {
    private let left: Mutex<Int>

    public init(_ count: Int) { left = Mutex(count) }

    /// False when none is wanted any more.
    public func take() -> Bool {
        left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }

    public var isOver: Bool { left.withLock { $0 == 0 } }
}
