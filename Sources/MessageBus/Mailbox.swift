import Foundation

/// A bounded queue between threads. The receiver waits up to a deadline; the sender either waits for room or learns
/// that there is none.
///
/// `@unchecked Sendable`: every access to the queue holds the condition's lock.
package final class Mailbox<Element: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var elements: [Element] = []
    private var closed = false
    private let capacity: Int

    package init(capacity: Int) { self.capacity = capacity }

    /// Returns false when the box is full or closed: the element is dropped.
    @discardableResult
    package func offer(_ element: Element) -> Bool {
        condition.withLock {
            guard !closed, elements.count < capacity else { return false }
            elements.append(element)
            condition.broadcast()
            return true
        }
    }

    /// Adds the element even beyond the capacity: for the few elements that must not be lost, such as answers to this
    /// process's own requests.
    package func insist(_ element: Element) {
        condition.withLock {
            guard !closed else { return }
            elements.append(element)
            condition.broadcast()
        }
    }

    /// Waits for room and adds the element; returns false if the mailbox was closed.
    package func put(_ element: Element) -> Bool {
        condition.withLock {
            while !closed, elements.count >= capacity { condition.wait() }
            guard !closed else { return false }
            elements.append(element)
            condition.broadcast()
            return true
        }
    }

    /// Takes up to `limit` elements; returns none if `timeout` (seconds) has passed, or if the box is closed and empty.
    package func take(limit: Int, timeout: TimeInterval) -> [Element] {
        let deadline = Date(timeIntervalSinceNow: timeout)
        return condition.withLock {
            while elements.isEmpty, !closed, condition.wait(until: deadline) {}
            let taken = Array(elements.prefix(limit))
            elements.removeFirst(taken.count)
            if !taken.isEmpty { condition.broadcast() }
            return taken
        }
    }

    package func close() {
        condition.withLock {
            closed = true
            condition.broadcast()
        }
    }

    package var isEmpty: Bool { condition.withLock { elements.isEmpty } }
    package var isClosed: Bool { condition.withLock { closed } }
}
