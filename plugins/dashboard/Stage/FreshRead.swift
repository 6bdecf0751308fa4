import Synchronization

/// Lets any number of threads ask for what is new, with as few reads as possible: a thread that asks during a read waits
/// for the next one, since what it wants may have come too late for the first, and shares it with all who ask meanwhile.
package final class FreshRead: Sendable {
    private struct Last {
        var number = 0
        var isRead = false
    }

    /// How many reads have begun.
    private let begun = Mutex(0)
    private let last = Mutex(Last())

    package init() {}

    /// - Parameter read: reads, one thread at a time, and returns whether it could.
    /// - Returns: whether a read that began after this call has succeeded.
    package func call(_ read: () -> Bool) -> Bool {
        let asked = begun.withLock { $0 }
        return last.withLock { last in
            if last.number > asked { return last.isRead }
            last.number = begun.withLock { begun in
                begun += 1
                return begun
            }
            last.isRead = read()
            return last.isRead
        }
    }
}
