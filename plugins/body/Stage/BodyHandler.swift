import HealthModel
import HealthStatistics

/// Body mass, height, body mass index and body fat: the day's latest value and its mean, only on days that have a
/// measurement.
///
/// In kilograms, metres, kg/m² (as measured, never computed from the other two), and as a fraction from 0 to 1.
public struct BodyHandler: PluginHandler {
    public let version = 4

    public init() {}

    public func compute(_ input: DayInput) throws -> DayOutput {
        var output = DayOutput()
        let figures = [
            ("BodyMass", latest: "bodyMassKilograms", mean: "bodyMassMeanKilograms"),
            ("Height", "heightMeters", "heightMeanMeters"),
            ("BodyMassIndex", "bodyMassIndex", "bodyMassIndexMean"),
            ("BodyFatPercentage", "bodyFatFraction", "bodyFatMeanFraction"),
        ]
        for (type, latest, mean) in figures {
            let rows = input.samples.rows(of: "HKQuantityTypeIdentifier" + type)
            let statistics = DiscreteStatistics(input.samples, rows: rows, style: .arithmetic, in: input.window)
            guard statistics.count > 0 else { continue }
            output.figures[latest] = Value(statistics.mostRecent)
            output.figures[mean] = Value(statistics.average)
        }
        return output
    }
}
