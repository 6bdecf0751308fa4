import HealthModel
import HealthStatistics

/// A day's heart rate, resting heart rate and heart rate variability.
///
/// `heartRate` has `min`, `max`, `average` (over the time that samples stand for) and `resting`, all in beats per minute; it is null if
/// there are no samples. `resting` is the day's latest: the system replaces its estimate as the day goes on.
/// `hrvSDNNMilliseconds` is the plain mean. Each hour has the heart rate's average (`heartRate`), minimum and maximum
/// (`heartRateMin`, `heartRateMax`). Configuration: `sourceOrder`.
public struct HeartRateHandler: PluginHandler {
    public let version = 6
    /// For what summarizes several measurements (samples of iOS 8, apps' statistics), the lowest and highest value.
    public let payloadTypes: Set = [
        "HKQuantityTypeIdentifierHeartRate", HealthType.statistics(of: "HKQuantityTypeIdentifierHeartRate"),
    ]

    public init() {}

    public func compute(_ input: DayInput) throws -> DayOutput {
        let samples = input.samples
        let rateRows = samples.rows(of: "HKQuantityTypeIdentifierHeartRate")
        let order = input.sourceOrder(for: "HKQuantityTypeIdentifierHeartRate")
        let rate = DiscreteStatistics(
            samples, rows: rateRows, style: .temporallyWeighted, order: order, in: input.window)
        let resting = Self.plain("HKQuantityTypeIdentifierRestingHeartRate", input)
        let variability = Self.plain("HKQuantityTypeIdentifierHeartRateVariabilitySDNN", input)

        var output = DayOutput()
        if rate.count + resting.count > 0 {
            output.figures["heartRate"] = [
                "min": Value(rate.minimum), "max": Value(rate.maximum), "average": Value(rate.average),
                "resting": Value(resting.mostRecent),
            ]
        }
        if rate.count > 0 {
            let hours = DiscreteStatistics.buckets(
                samples, rows: rateRows, style: .temporallyWeighted, order: order, in: input.zones.hours(of: input.day))
            output.hourly["heartRate"] = .array(hours.map { Value($0.average) })
            output.hourly["heartRateMin"] = .array(hours.map { Value($0.minimum) })
            output.hourly["heartRateMax"] = .array(hours.map { Value($0.maximum) })
        }
        if let mean = variability.average { output.figures["hrvSDNNMilliseconds"] = .number(mean) }
        return output
    }

    private static func plain(_ type: String, _ input: DayInput) -> DiscreteStatistics {
        DiscreteStatistics(input.samples, rows: input.samples.rows(of: type), style: .arithmetic, in: input.window)
    }
}
