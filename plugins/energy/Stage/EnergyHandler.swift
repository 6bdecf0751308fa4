import HealthModel
import HealthStatistics

/// Active and resting energy, and what the rings count: exercise, move and stand minutes, and stand hours.
///
/// `activeEnergyKilocalories` and `basalEnergyKilocalories` don't overlap: active excludes resting energy.
/// `exerciseMinutes`, `moveMinutes` (a ring that counts minutes rather than energy) and `standMinutes` are Apple's
/// samples; `standHours` is the number of local hours with a stood value; 0 when all samples have the value idle. The
/// workouts' own energy isn't added: their samples are already in the totals.
public struct EnergyHandler: PluginHandler {
    public let version = 4

    public init() {}

    public func compute(_ input: DayInput) throws -> DayOutput {
        var output = DayOutput()
        output.addTotal("activeEnergyKilocalories", of: "HKQuantityTypeIdentifierActiveEnergyBurned", from: input)
        output.addTotal("basalEnergyKilocalories", of: "HKQuantityTypeIdentifierBasalEnergyBurned", from: input)
        output.addTotal("exerciseMinutes", of: "HKQuantityTypeIdentifierAppleExerciseTime", from: input)
        output.addTotal("moveMinutes", of: "HKQuantityTypeIdentifierAppleMoveTime", from: input)
        output.addTotal("standMinutes", of: "HKQuantityTypeIdentifierAppleStandTime", from: input)
        addStandHours(from: input, to: &output)
        return output
    }

    private func addStandHours(from input: DayInput, to output: inout DayOutput) {
        let samples = input.samples
        let rows = samples.rows(of: "HKCategoryTypeIdentifierAppleStandHour").filter { row in
            input.contains(samples.startOf(row)) && samples.value[row].isFinite
        }
        guard !rows.isEmpty else { return }
        let stood = rows.filter { samples.value[$0] == 0 }.map { samples.startOf($0) }
        let hours = input.zones.hours(of: input.day).count { hour in stood.contains(where: hour.contains) }
        output.figures["standHours"] = .integer(Int64(hours))
    }
}
