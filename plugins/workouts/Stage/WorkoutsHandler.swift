import HealthModel
import HealthStatistics

/// A day's workouts, listed under `workouts` and delivered as events.
///
/// A workout belongs to the local day of its start. Durations are in seconds, distances in metres, energies in
/// kilocalories; anything unknown is null. Workout energy never enters the day's totals: the samples behind it are
/// already there. With `newestOfRepeats`, a workout that its source wrote several times counts once.
public struct WorkoutsHandler: PluginHandler {
    public let version = 4
    public let during = WorkoutsDay.during
    public let detailedTypes = WorkoutsDay.detailedTypes
    public let characteristics: Set = ["dateOfBirth"]

    public init() {}

    public func window(_ configuration: Value) throws -> HandlerWindow { try WorkoutsDay.window(configuration) }

    public func compute(_ input: DayInput) throws -> DayOutput {
        let day = try WorkoutsDay(input)
        guard !day.counted.isEmpty else { return DayOutput() }
        return DayOutput(
            figures: ["workouts": day.figure],
            events: day.counted.map { DayEvent(id: $0.id, kind: "workout", payload: $0.payload) })
    }
}
