import HealthModel
import HealthStatistics

/// Water drunk in a day, in total and by hour, in millilitres.
///
/// Overlapping sources are merged (see `CumulativeMerge`).
public struct HydrationHandler: PluginHandler {
    public let version = 3

    public init() {}

    public func compute(_ input: DayInput) throws -> DayOutput {
        var output = DayOutput()
        output.addTotal("waterMilliliters", of: "HKQuantityTypeIdentifierDietaryWater", from: input)
        return output
    }
}
