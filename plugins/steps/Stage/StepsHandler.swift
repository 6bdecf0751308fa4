import HealthModel
import HealthStatistics

/// A day's steps, distance on foot and flights climbed, in total and by hour.
///
/// `steps` and `flightsClimbed` are counts, `distanceMeters` is in metres. Overlapping sources are merged (see
/// `CumulativeMerge`), so a figure may be fractional.
public struct StepsHandler: PluginHandler {
    public let version = 3

    public init() {}

    public func compute(_ input: DayInput) throws -> DayOutput {
        var output = DayOutput()
        output.addTotal("steps", of: "HKQuantityTypeIdentifierStepCount", from: input)
        output.addTotal("distanceMeters", of: "HKQuantityTypeIdentifierDistanceWalkingRunning", from: input)
        output.addTotal("flightsClimbed", of: "HKQuantityTypeIdentifierFlightsClimbed", from: input)
        return output
    }
}
