import HealthModel

/// Who begins a sync and who joins one, so that many presses of a button cause few syncs. Pure.
package struct SyncTurns: Sendable, Equatable {
    package enum Turn: Sendable, Equatable {
        /// To give the command with this id, or to wait for the sync that somebody else has begun with it.
        case begin(String)
        case join(String)
        /// To come back after so many seconds.
        case later(Int)
    }

    /// The time between the beginnings of two syncs.
    package static let spacing = Duration.seconds(5)
    /// How many requests may wait at once, so that others are still answered.
    package static let places = 3

    private var id: String?
    private var waiting = 0
    private var began: MonotonicTime?

    package init() {}

    package mutating func enter(with new: String, at now: MonotonicTime) -> Turn {
        guard waiting < Self.places else { return .later(1) }
        if let id {
            waiting += 1
            return .join(id)
        }
        let rest = began.map { Self.spacing - (now - $0) } ?? .zero
        guard rest <= .zero else { return .later(Int(rest.seconds.rounded(.up))) }
        (id, waiting, began) = (new, 1, now)
        return .begin(new)
    }

    /// The next request begins again once all those that wait have their answer.
    package mutating func leave() {
        waiting -= 1
        if waiting <= 0 { (id, waiting) = (nil, 0) }
    }
}
