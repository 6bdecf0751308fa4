import HealthModel
import HealthStatistics

/// The workouts of a day, listed under `workouts` and delivered as events.
///
/// A workout belongs to the local day of its start. Durations are seconds, distances metres, energies kilocalories; what isn't known is
/// null. Workout energy never enters the day's totals: the samples behind it are there already. With `newestOfRepeats` a workout that its
/// source wrote several times counts once.
public struct WorkoutsHandler: PluginHandler {
    public let version = 2
    public let during = ["HKQuantityTypeIdentifierHeartRate": HealthType.workoutIdentifier]
    public let detailedTypes: Set = [HealthType.workoutIdentifier]
    public let characteristics: Set = ["dateOfBirth"]

    public init() {}

    /// A workout that runs over midnight has its heart rate in the next day.
    public func window(_ configuration: Value) throws -> HandlerWindow {
        _ = try HeartRateZones.dateOfBirth(in: configuration)
        return HandlerWindow(after: 12 * 3600 * Instant.second)
    }

    /// Whether of a workout that its source wrote several times only the newest counts.
    public static func dropsRepeats(_ configuration: Value) -> Bool { configuration["newestOfRepeats"].bool ?? false }

    public func compute(_ input: DayInput) throws -> DayOutput {
        let workouts = try WorkoutsDay(input).counted
        guard !workouts.isEmpty else { return DayOutput() }
        return DayOutput(
            figures: ["workouts": .array(workouts.map(\.figure))],
            events: workouts.map { DayEvent(id: $0.id, kind: "workout", payload: $0.payload) })
    }
}
