import Client
import Foundation
import HTTP
import HealthModel
import Protocol
import Synchronization

/// Requests for changes that wait until there are some. None occupies a thread of the server, which has other
/// connections to serve: these requests are suspended, and one thread watches for all of them.
package final class ChangesWaiting: Sendable {
    struct Waiter: Sendable {
        var stream: EventStream
        var since: ChangesCursor
        var deadline: Date
        /// Makes the body, once there is something to send or the time is up, from the store's state at that time.
        var answer: @Sendable (_ standing: Result<ChangesStanding, any Error>) -> Answer

        func isDue(_ head: StoreHead?, _ now: Date) -> Bool {
            if now >= deadline || !stream.isOpen { return true }
            guard let head else { return false }
            return head.generation != since.generation || head.sequence > since.sequence
        }
    }

    struct Answer: Sendable {
        var body: [UInt8]
        /// Why the body has no changes, if the observer couldn't be asked.
        var failure: (any Error)?
    }

    /// The maximum number of waiting requests.
    static let limit = 16
    /// A change that comes after a request's first look but before the request is in the list causes no further
    /// heartbeat: it is found this many seconds later.
    private static let lookAgain = 0.5

    private let waiters = Mutex<[Waiter]>([])
    private let isOver = Mutex(false)
    private let changed = NSCondition()

    package init() {}

    /// - Returns: false if too many requests are waiting.
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

    /// Answers requests when they are due, on a thread of its own, until `stop`.
    package func start(_ client: StackClient, observer: String) {
        Thread.begin("changes") { [self] in watch(client, observer) }
    }

    package func stop() {
        isOver.withLock { $0 = true }
        changed.withLock { changed.broadcast() }
    }

    private func watch(_ client: StackClient, _ observer: String) {
        var heard = 0
        while true {
            // Sleeps while nobody is waiting.
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
            answer(due, client, observer)
            if due.isEmpty {
                client.wait(forHeartbeatAfter: &heard, until: Date(timeIntervalSinceNow: Self.lookAgain))
            }
        }
    }

    /// The state is requested once for all of them, starting from the one that is furthest behind. If the observer is
    /// silent, only the first request waits for it.
    private func answer(_ due: [Waiter], _ client: StackClient, _ observer: String) {
        let open = due.filter(\.stream.isOpen)
        if let earliest = open.map(\.since).min(by: { $0.sequence < $1.sequence }) {
            var standing = Result<ChangesStanding, any Error> {
                try ChangesStanding(client, observer, since: earliest)
            }
            for waiter in open {
                let answer = waiter.answer(standing)
                if let failure = answer.failure { standing = .failure(failure) }
                waiter.stream.send(whole: answer.body)
                waiter.stream.end()
            }
        }
        for waiter in due { waiter.stream.end() }
    }
}
