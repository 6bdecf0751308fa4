import HealthModel
import HealthStatistics

/// The workouts of a day, listed under `workouts` and delivered as events.
///
/// A workout belongs to the local day of its start. Durations are seconds, distances metres, energies kilocalories; what isn't known is
/// null. Workout energy never enters the day's totals: the samples behind it are there already.
public struct WorkoutsHandler: DayHandler {
    public let version = 1
    public let needsPayload = true

    public init() {}

    public func compute(_ input: DayInput) throws -> DayOutput {
        let samples = input.samples
        let rows = samples.rows(of: HealthType.workoutIdentifier).filter { input.contains(samples.start[$0]) }
        guard !rows.isEmpty else { return DayOutput() }
        let workouts = try rows.map { try Workout(samples, row: $0) }
        return DayOutput(
            figures: ["workouts": .array(workouts.map(\.figure))],
            events: workouts.map { DayEvent(id: $0.id, kind: "workout", payload: $0.payload) })
    }
}
