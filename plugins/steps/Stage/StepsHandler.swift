import HealthModel
import HealthStatistics

/// Steps, distance on foot and flights climbed of a day, in total and by hour.
///
/// `steps` and `flightsClimbed` are counts, `distanceMeters` metres. Overlapping sources are merged (see `CumulativeMerge`), so a
/// figure may have a fraction.
package struct StepsHandler: PluginHandler {
    package let version = 1

    package init() {}

    package func compute(_ input: DayInput) throws -> DayOutput {
        var output = DayOutput()
        output.addTotal("steps", of: "HKQuantityTypeIdentifierStepCount", from: input)
        output.addTotal("distanceMeters", of: "HKQuantityTypeIdentifierDistanceWalkingRunning", from: input)
        output.addTotal("flightsClimbed", of: "HKQuantityTypeIdentifierFlightsClimbed", from: input)
        return output
    }
}
