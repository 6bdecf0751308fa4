import Clocks
import Foundation
import HealthModel

/// Messages that a process hasn't handed to the hub yet. Bounded: beyond the limit the oldest message is dropped and
/// counted.
///
/// `@unchecked Sendable`: every access holds the condition's lock.
package final class SendQueue: @unchecked Sendable {
    package static let limit = 1024
    /// A sender of many messages waits while more messages than this are queued. Otherwise those messages would fill
    /// the socket's queue and push out everything else that this process sends.
    package static let room = 32

    private let condition = NSCondition()
    private var messages: [[[UInt8]]] = []
    private var dropCount = 0

    package init() {}

    /// - Returns: whether the queue was empty before.
    package func add(_ frames: [[UInt8]]) -> Bool {
        condition.withLock {
            if messages.count >= Self.limit {
                messages.removeFirst()
                dropCount += 1
            }
            messages.append(frames)
            return messages.count == 1
        }
    }

    package func takeAll() -> [[[UInt8]]] {
        condition.withLock {
            defer {
                messages = []
                condition.broadcast()
            }
            return messages
        }
    }

    /// Puts back messages that the socket had no room for: they come first next time.
    package func putBack(_ rest: ArraySlice<[[UInt8]]>) {
        condition.withLock {
            let fitting = rest.suffix(max(0, Self.limit - messages.count))
            dropCount += rest.count - fitting.count
            messages.insert(contentsOf: fitting, at: 0)
        }
    }

    /// Waits until there is room, but not longer than `patience`: the hub may be stopped.
    package func waitForRoom(_ patience: Duration) {
        let deadline = Date(timeIntervalSinceNow: patience.seconds)
        condition.withLock {
            while messages.count > Self.room, condition.wait(until: deadline) {}
        }
    }

    /// How many messages have been dropped so far.
    package var dropped: Int { condition.withLock { dropCount } }
}
