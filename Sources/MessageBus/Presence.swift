import HealthModel

/// Whether the bus carries what a process says, told by its own heartbeats coming back, and how soon the next is due. Pure.
package struct Presence: Sendable {
    /// A hub that hasn't given a heartbeat back for this long is gone, or doesn't hear.
    private static let echoPatience = Duration.seconds(5)

    private var repetition: Repetition
    private var wasHeard = false
    /// When the first heartbeat was sent that hasn't come back.
    private var unheardSince: MonotonicTime?
    /// Something has moved since the last heartbeat.
    private var isUntold = false

    package init(at now: MonotonicTime) { repetition = Repetition(at: now) }

    /// A heartbeat leaves.
    package mutating func said(at now: MonotonicTime) {
        unheardSince = unheardSince ?? now
        isUntold = false
    }

    /// One of its own heartbeats has gone through the hub and come back: the bus works both ways.
    /// - Returns: whether that is new, which others should hear at once.
    package mutating func heardSelf(at now: MonotonicTime) -> Bool {
        let wasOnBus = isOnBus(at: now)
        wasHeard = true
        unheardSince = nil
        if !wasOnBus { repetition.moved(at: now) }
        return !wasOnBus
    }

    /// What the heartbeats tell has changed.
    package mutating func moved(at now: MonotonicTime) {
        repetition.moved(at: now)
        isUntold = true
    }

    package func isOnBus(at now: MonotonicTime) -> Bool {
        wasHeard && unheardSince.map { now - $0 < Self.echoPatience } ?? true
    }

    /// - Parameter isBusy: whether it is at work, whatever has come of it yet.
    package func pace(at now: MonotonicTime, isBusy: Bool = false) -> BusConnection.Pace {
        guard isOnBus(at: now) else { return .unheard }
        if isUntold { return .moving }
        return isBusy || unheardSince != nil || repetition.interval(at: now) == Repetition.lively ? .lively : .quiet
    }
}
