import HealthModel

/// Whether the bus carries what a process says, told by its own heartbeats coming back, and how soon the next is due. Pure.
package struct Presence: Sendable {
    /// A hub that hasn't given a heartbeat back for this long is gone, or doesn't hear.
    private static let echoPatience = 5 * Instant.second

    private var repetition: Repetition
    private var wasHeard = false
    /// When the first heartbeat was sent that hasn't come back.
    private var unheardSince: Instant?

    /// - Parameter now: monotonic, as all times here.
    package init(at now: Instant) { repetition = Repetition(at: now) }

    /// A heartbeat leaves.
    package mutating func said(at now: Instant) { unheardSince = unheardSince ?? now }

    /// One of its own heartbeats has gone through the hub and come back: the bus works both ways.
    /// - Returns: whether that is new, which others should hear at once.
    package mutating func heardSelf(at now: Instant) -> Bool {
        let wasOnBus = isOnBus(at: now)
        wasHeard = true
        unheardSince = nil
        if !wasOnBus { moved(at: now) }
        return !wasOnBus
    }

    /// What the heartbeats tell has changed.
    package mutating func moved(at now: Instant) { repetition.moved(at: now) }

    package func isOnBus(at now: Instant) -> Bool {
        wasHeard && unheardSince.map { now - $0 < Self.echoPatience } ?? true
    }

    /// - Parameter isBusy: whether it is at work, whatever has come of it yet.
    package func pace(at now: Instant, isBusy: Bool = false) -> BusConnection.Pace {
        guard isOnBus(at: now) else { return .unheard }
        return isBusy || unheardSince != nil || repetition.interval(at: now) == Repetition.lively ? .lively : .quiet
    }
}
