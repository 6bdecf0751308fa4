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
    package var unlogged: Int

    package init(_ kind: Kind, who: String, why: String, unlogged: Int = 0) {
        (self.kind, self.who, self.why, self.unlogged) = (kind, who, why, unlogged)
    }
}

/// Passes on one notice per kind and sender (and per reason, except for denied requests) every ten seconds, and counts
/// the others: a flood of refusals must not become a flood of log lines. Pure.
package struct NoticeLimit {
    package static let interval = Duration.seconds(10)
    /// The maximum number of senders remembered, since strangers can have any number of addresses. While it is reached,
    /// notices about others are dropped and not counted.
    package static let limit = 128

    private var passed: [String: (at: MonotonicTime, unlogged: Int)] = [:]

    package init() {}

    /// nil if nothing needs to be reported now.
    package mutating func pass(_ notice: BusNotice, at now: MonotonicTime) -> BusNotice? {
        // A sender can vary its denied requests at will; the reasons for refusing a peer don't vary.
        let key = "\(notice.kind) \(notice.who)" + (notice.kind == .denied ? "" : " " + notice.why)
        if let last = passed[key], now - last.at < Self.interval {
            passed[key] = (last.at, last.unlogged + 1)
            return nil
        }
        if passed[key] == nil, passed.count >= Self.limit {
            passed = passed.filter { now - $0.value.at < Self.interval }
            guard passed.count < Self.limit else { return nil }
        }
        var notice = notice
        notice.unlogged = passed[key]?.unlogged ?? 0
        passed[key] = (now, 0)
        return notice
    }
}
