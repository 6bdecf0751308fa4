import HealthModel

/// How the system delivers, no matter what its consumers ask for.
package struct SystemLimits: Sendable, Equatable {
    /// The highest frequency at which types not named in `floors` may be delivered in the background.
    package var floor = DeliveryFrequency.immediate
    /// By type; HealthKit documents only one floor: hourly, for stepCount.
    package var floors: [String: DeliveryFrequency] = [:]
    /// How long a consumer has to acknowledge a fire.
    package var acknowledgeWithin: Duration = .seconds(15)
    /// How many consecutive fires may go unacknowledged before delivery to their consumer stops; 0 means never.
    package var strikesUntilStopped = 0
    /// How often fires and app refreshes may wake the app within any hour; 0 means no limit.
    package var wakesPerHour = 0
    /// How many silent pushes of one sender may wake the app within any hour. Apple: don't send more than two or three an
    /// hour.
    package static let pushesPerHour = 2
    /// How long a locked phone may hold changes back before a person is alerted.
    package var unlockReminderAfter: Duration = .seconds(3600)

    package init() {}

    package func floor(of type: String) -> DeliveryFrequency { floors[type] ?? floor }

    /// The delay before an unacknowledged fire is repeated, after the given number of misses. It is the time allowed
    /// for an acknowledgement, doubled with each miss after the first, up to 15 minutes.
    func backOff(after misses: Int) -> Duration {
        BackOff(acknowledgeWithin, upTo: .seconds(900), failures: misses - 1).wait
    }
}
