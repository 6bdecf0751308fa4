import HealthModel
import HealthStatistics

/// Body mass and height: the day's latest, only on days that have one.
///
/// `bodyMassKilograms` in kilograms, `heightMeters` in metres. Body-mass index and body fat are under `other`, by the generic handler.
public struct BodyHandler: DayHandler {
    public let version = 1
    public let window = HandlerWindow.localDay

    public init() {}

    public func compute(_ input: DayInput) throws -> DayOutput {
        var output = DayOutput()
        let figures = [
            ("bodyMassKilograms", "HKQuantityTypeIdentifierBodyMass"),
            ("heightMeters", "HKQuantityTypeIdentifierHeight"),
        ]
        for (name, type) in figures {
            let statistics = DiscreteStatistics(
                input.samples, rows: input.samples.rows(of: type), style: .arithmetic, in: input.window)
            if let latest = statistics.mostRecent { output.figures[name] = .number(latest) }
        }
        return output
    }
}
