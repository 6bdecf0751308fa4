import HealthModel

/// What a hub reports, for its log, about the peers on its bus and those trying to join.
package struct BusNotice: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// A peer wasn't let in.
        case refused = "bus.refused"
        /// A peer sent or asked for something that its key doesn't entitle it to.
        case denied = "bus.denied"
        /// The keys or the list can't be read; those read before stay in force.
        case unreadable = "bus.unreadable"
        /// Every peer has to reconnect, since a key that some of them had used is no longer valid.
        case reopened = "bus.reopened"
    }

    package var kind: Kind
    /// Whom it concerns: an identity, or an address.
    package var who: String
    package var why: String
    /// How many similar notices have been suppressed since the last one that was reported.
    package var untold: Int

    package init(_ kind: Kind, who: String, why: String, untold: Int = 0) {
        (self.kind, self.who, self.why, self.untold) = (kind, who, why, untold)
    }
}

/// Passes on one notice per kind and sender (and per reason, except for denied requests) every ten seconds, and counts
/// the others: a flood of refusals must not become a flood of log lines. Pure.
package struct NoticeLimit {
    package static let interval = Duration.seconds(10)
    /// The maximum number of senders remembered, since strangers can have any number of addresses. While it is reached,
    /// notices about others are dropped and not counted.
    package static let limit = 128

    private var told: [String: (at: MonotonicTime, untold: Int)] = [:]

    package init() {}

    /// nil if nothing needs to be reported now.
    package mutating func pass(_ notice: BusNotice, at now: MonotonicTime) -> BusNotice? {
        // A sender can vary its denied requests at will; the reasons for refusing a peer don't vary.
        let key = "\(notice.kind) \(notice.who)" + (notice.kind == .denied ? "" : " " + notice.why)
        if let last = told[key], now - last.at < Self.interval {
            told[key] = (last.at, last.untold + 1)
            return nil
        }
        if told[key] == nil, told.count >= Self.limit {
            told = told.filter { now - $0.value.at < Self.interval }
            guard told.count < Self.limit else { return nil }
        }
        var notice = notice
        notice.untold = told[key]?.untold ?? 0
        told[key] = (now, 0)
        return notice
    }
}
