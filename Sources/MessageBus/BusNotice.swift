import HealthModel

/// What a hub has to say of those who are on its bus or want to be: for its log.
package struct BusNotice: Sendable, Equatable {
    package enum Kind: String, Sendable {
        /// Somebody wasn't let in.
        case refused = "bus.refused"
        /// Somebody said or asked for what its key gives no right to.
        case denied = "bus.denied"
        /// The keys or the list can't be read; what held goes on.
        case unreadable = "bus.unreadable"
        /// All connect anew: a key that some came in by no longer holds.
        case reopened = "bus.reopened"
    }

    package var kind: Kind
    /// Who: an identity, or an address.
    package var who: String
    package var why: String
    /// How many like it weren't told since the last that was.
    package var untold: Int

    package init(_ kind: Kind, who: String, why: String, untold: Int = 0) {
        self.kind = kind
        self.who = who
        self.why = why
        self.untold = untold
    }
}

/// Lets through one notice of a kind and person (and reason, of who isn't let in) in ten seconds, and counts the others: a flood of what is refused must not become a flood of lines.
/// Pure.
package struct NoticeLimit {
    package static let interval = Duration.seconds(10)
    /// Strangers come with as many addresses as they like.
    package static let limit = 128

    private var told: [String: (at: MonotonicTime, untold: Int)] = [:]

    package init() {}

    /// nil when nothing is to be said now.
    package mutating func pass(_ notice: BusNotice, at now: MonotonicTime) -> BusNotice? {
        // What is denied differs as its sender likes; why somebody is refused doesn't.
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
