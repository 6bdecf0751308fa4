import HealthModel
import Protocol

/// Requests waiting to be answered, taken from all askers in turn, so that an asker that keeps asking delays only
/// itself. Pure.
package struct PullQueue {
    /// The maximum number of requests per asker; any beyond that are dropped, and repeated by their senders.
    package static let limit = 16
    /// How many askers may have requests waiting at the same time.
    package static let askers = 64

    private var waiting: [String: [Value]] = [:]
    /// The askers in the order of their turns.
    private var turns: [String] = []

    package init() {}

    /// - Parameter sender: the asker. A tool counts as its owner, since the owner may use any number of names.
    /// - Returns: false if the request is dropped for lack of room.
    @discardableResult
    package mutating func offer(_ request: Value, from sender: String) -> Bool {
        let asker = BusName.owner(of: sender)
        if var mine = waiting[asker] {
            // A repeat of the same request: its sender waits only for the latest attempt.
            if let same = mine.firstIndex(where: { $0["id"] == request["id"] && $0["consumer"] == request["consumer"] })
            {
                mine[same] = request
            } else {
                guard mine.count < Self.limit else { return false }
                mine.append(request)
            }
            waiting[asker] = mine
            return true
        }
        guard turns.count < Self.askers else { return false }
        waiting[asker] = [request]
        turns.append(asker)
        return true
    }

    package mutating func take() -> Value? {
        guard !turns.isEmpty else { return nil }
        let asker = turns.removeFirst()
        guard var mine = waiting[asker], !mine.isEmpty else { return nil }
        let request = mine.removeFirst()
        waiting[asker] = mine.isEmpty ? nil : mine
        if !mine.isEmpty { turns.append(asker) }
        return request
    }
}
