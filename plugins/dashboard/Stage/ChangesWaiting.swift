import Client
import Foundation
import HTTP
import HealthModel
import Protocol
import Synchronization

/// Requests for changes that wait until there are some. None takes a thread of the server, which has other connections:
/// theirs are suspended, and one thread watches for all of them.
package final class ChangesWaiting: Sendable {
    struct Waiter: Sendable {
        var stream: EventStream
        var since: ChangesCursor
        var deadline: Date
        /// Makes the body, once there is something or the time is over.
        var answer: @Sendable () -> [UInt8]

        func isDue(_ head: StoreHead?, _ now: Date) -> Bool {
            if now >= deadline || !stream.isOpen { return true }
            guard let head else { return false }
            return head.generation != since.generation || head.sequence > since.sequence
        }
    }

    /// How many may wait.
    static let limit = 16
    /// A change between a request's first look and its place in the list has no other heartbeat: it is found this much
    /// later, in seconds.
    private static let lookAgain = 0.5

    private let waiters = Mutex<[Waiter]>([])
    private let isOver = Mutex(false)
    private let changed = NSCondition()

    package init() {}

    /// - Returns: false when too many are waiting.
    func admit(_ waiter: Waiter) -> Bool {
        let isAdmitted: Bool = waiters.withLock { waiters in
            waiters.removeAll { !$0.stream.isOpen }
            guard waiters.count < Self.limit else { return false }
            waiters.append(waiter)
            return true
        }
        changed.withLock { changed.broadcast() }
        return isAdmitted
    }

    /// Answers requests as their time comes, on a thread of its own, until `stop`.
    package func start(_ client: StackClient, observer: String) {
        let thread = Thread { [self] in watch(client, observer) }
        thread.name = "changes"
        thread.start()
    }

    package func stop() {
        isOver.withLock { $0 = true }
        changed.withLock { changed.broadcast() }
    }

    private func watch(_ client: StackClient, _ observer: String) {
        var heard = 0
        while true {
            // Asleep while nobody waits.
            changed.withLock {
                while waiters.withLock({ $0.isEmpty }), !isOver.withLock({ $0 }) { changed.wait() }
            }
            if isOver.withLock({ $0 }) { return }
            let head = client.heartbeats[observer]?.beat.head
            let now = Date()
            let due: [Waiter] = waiters.withLock { waiters in
                let due = waiters.filter { $0.isDue(head, now) }
                waiters.removeAll { $0.isDue(head, now) }
                return due
            }
            for waiter in due {
                if waiter.stream.isOpen { waiter.stream.send(whole: waiter.answer()) }
                waiter.stream.end()
            }
            if due.isEmpty {
                client.wait(forHeartbeatAfter: &heard, until: Date(timeIntervalSinceNow: Self.lookAgain))
            }
        }
    }
}
