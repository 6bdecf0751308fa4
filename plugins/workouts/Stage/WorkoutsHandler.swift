import HealthModel
import HealthStatistics

/// The workouts of a day, listed under `workouts` and delivered as events.
///
/// A workout belongs to the local day of its start. Durations are seconds, distances metres, energies kilocalories; what isn't known is
/// null. Workout energy never enters the day's totals: the samples behind it are there already.
public struct WorkoutsHandler: DayHandler {
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

    public func compute(_ input: DayInput) throws -> DayOutput {
        let samples = input.samples
        let rows = samples.rows(of: HealthType.workoutIdentifier).filter { input.contains(samples.start[$0]) }
        guard !rows.isEmpty else { return DayOutput() }
        let zones = try HeartRateZones.of(input)
        let rates = samples.rows(of: "HKQuantityTypeIdentifierHeartRate")
        let workouts = try rows.map { row in
            var workout = try Workout(samples, row: row)
            workout.heart = WorkoutHeart(
                of: workout.body, sourceName: workout.sourceName, samples, rows: rates, zones: zones)
            return workout
        }
        return DayOutput(
            figures: ["workouts": .array(workouts.map(\.figure))],
            events: workouts.map { DayEvent(id: $0.id, kind: "workout", payload: $0.payload) })
    }
}
