import HealthModel
import Protocol

/// Requests that wait for their answers, taken in turn from everyone who asks: one that asks without end keeps only
/// itself waiting. Pure.
package struct PullQueue {
    /// Of one asker, beyond which its newest are dropped: they come again.
    package static let limit = 16
    /// How many may have something waiting at the same time.
    package static let askers = 64

    private var waiting: [String: [Value]] = [:]
    /// Whose turn it is, first to last.
    private var turns: [String] = []

    package init() {}

    /// - Parameter sender: who asks; a tool counts as whoever it belongs to, since it may have as many names as it
    ///   likes.
    /// - Returns: false when it is dropped for want of room.
    @discardableResult
    package mutating func offer(_ request: Value, from sender: String) -> Bool {
        let asker = BusName.owner(of: sender)
        if var mine = waiting[asker] {
            // The same request again: whoever repeats it waits for the newest attempt alone.
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
