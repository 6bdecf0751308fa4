import MessageBus
import Protocol
import Synchronization

/// Counts messages by topic. It sees only hints, which are small and infrequent.
package final class TopicCounter: Sendable {
    private let counts = Mutex<[String: Int]>([:])
    /// Topics are named after instances and types; beyond this limit, new topics aren't counted.
    private static let most = 2000

    package init() {}

    package static let subscriptions: [Subscription] = [
        .prefix("observed."), .prefix("sync."), .prefix("figures."), .prefix("events."),
        .exact("daily.summary"),
        .prefix("alert."),
    ]

    package func count(_ message: Message) {
        guard Self.subscriptions.contains(where: { $0.matches(message.topic) }) else { return }
        counts.withLock { counts in
            if let known = counts[message.topic] {
                counts[message.topic] = known + 1
            } else if counts.count < Self.most {
                counts[message.topic] = 1
            }
        }
    }

    var all: [String: Int] { counts.withLock { $0 } }

    /// Messages per second by topic between two counts, taken `seconds` apart.
    static func rates(_ new: [String: Int], since old: [String: Int], seconds: Double) -> [String:
        Double]
    {
        guard seconds > 0 else { return [:] }
        return new.reduce(into: [:]) { rates, entry in
            let more = entry.value - (old[entry.key] ?? 0)
            if more > 0 { rates[entry.key] = Double(more) / seconds }
        }
    }
}
