import HealthModel

/// Whether the bus delivers what a process sends, judged by its own heartbeats coming back, and how soon the next one
/// is due. Pure.
package struct Presence: Sendable {
    /// A hub that hasn't returned a heartbeat for this long is gone, or isn't listening.
    private static let echoPatience = Duration.seconds(5)

    private var repetition: Repetition
    private var wasHeard = false
    /// When the first heartbeat that hasn't come back yet was sent.
    private var unheardSince: MonotonicTime?
    /// Whether something has changed since the last heartbeat.
    private var isUnreported = false

    package init(at now: MonotonicTime) { repetition = Repetition(at: now) }

    /// Notes that a heartbeat is being sent.
    package mutating func said(at now: MonotonicTime) {
        unheardSince = unheardSince ?? now
        isUnreported = false
    }

    /// Notes that one of its own heartbeats has come back through the hub: the bus works in both directions.
    /// - Returns: whether the bus has only now begun to work, in which case others should be notified at once.
    package mutating func heardSelf(at now: MonotonicTime) -> Bool {
        let wasOnBus = isOnBus(at: now)
        wasHeard = true
        unheardSince = nil
        if !wasOnBus { repetition.moved(at: now) }
        return !wasOnBus
    }

    /// Notes that the contents of the heartbeats have changed.
    package mutating func moved(at now: MonotonicTime) {
        repetition.moved(at: now)
        isUnreported = true
    }

    package func isOnBus(at now: MonotonicTime) -> Bool {
        wasHeard && unheardSince.map { now - $0 < Self.echoPatience } ?? true
    }

    /// - Parameter isBusy: whether the process is working, even if it has no result yet.
    package func pace(at now: MonotonicTime, isBusy: Bool = false) -> BusConnection.Pace {
        guard isOnBus(at: now) else { return .unheard }
        if isUnreported { return .moving }
        return isBusy || unheardSince != nil ? .lively : .every(repetition.interval(at: now))
    }
}
