import HealthModel

/// Five zones of the heart-rate reserve (Karvonen), separated at 60, 70, 80 and 90 % of the range from the resting to
/// the maximum rate.
struct HeartRateZones {
    static let percentages = [60.0, 70, 80, 90]

    /// The limits between the zones, in beats per minute.
    let limits: [Double]

    /// Nil when the maximum isn't above the resting rate.
    init?(maximum: Double, resting: Double) {
        guard maximum > resting else { return nil }
        limits = Self.percentages.map { resting + (maximum - resting) * $0 / 100 }
    }

    /// From 1 to 5; a rate at a limit belongs to the zone above it.
    func zone(of rate: Double) -> Int { 1 + limits.count(where: { rate >= $0 }) }

    /// `[{zone, from, to, seconds}]`; null for the open ends.
    func value(of held: HeldSamples) -> Value {
        var time = [Int64](repeating: 0, count: limits.count + 1)
        held.forEach { time[zone(of: $0) - 1] += $1 }
        return .array(
            time.enumerated().map { index, time in
                [
                    "zone": .integer(Int64(index + 1)), "from": Value(index > 0 ? limits[index - 1] : nil),
                    "to": Value(index < limits.count ? limits[index] : nil),
                    "seconds": .number(Duration.microseconds(time).seconds),
                ]
            })
    }
}

extension HeartRateZones {
    /// The zones for a day, from its resting rate and the user's age on that day; nil when either is unknown. Values in
    /// the configuration take precedence.
    static func of(_ input: DayInput) throws -> HeartRateZones? {
        let configuration = input.configuration
        guard let maximum = try configuration["maximumHeartRate"].double ?? age(in: input).map({ Double(220 - $0) }),
            let resting = configuration["restingHeartRate"].double ?? latestResting(in: input)
        else { return nil }
        return HeartRateZones(maximum: maximum, resting: resting)
    }

    /// The latest resting rate counts, because the system replaces its estimate as the day goes on.
    private static func latestResting(in input: DayInput) -> Double? {
        let samples = input.samples
        let rows = samples.rows(of: "HKQuantityTypeIdentifierRestingHeartRate")
        return DiscreteStatistics(samples, rows: rows, style: .arithmetic, in: input.window).mostRecent
    }

    /// - Throws: `WorkoutConfigurationError` for anything that isn't a date.
    static func dateOfBirth(in configuration: Value) throws -> LocalDay? {
        guard let text = configuration["dateOfBirth"].string else { return nil }
        guard let date = LocalDay(text) else { throw WorkoutConfigurationError.dateOfBirth }
        return date
    }

    /// The user's age in full years, on that day.
    private static func age(in input: DayInput) throws -> Int? {
        let birth =
            try dateOfBirth(in: input.configuration)
            ?? input.characteristics["dateOfBirth"].string.flatMap { LocalDay($0) }
        guard let birth else { return nil }
        let isBefore = (input.day.month, input.day.day) < (birth.month, birth.day)
        let age = input.day.year - birth.year - (isBefore ? 1 : 0)
        return (0..<150).contains(age) ? age : nil
    }
}

/// An option that the handler can't work with.
public enum WorkoutConfigurationError: Error, Equatable, CustomStringConvertible {
    case dateOfBirth

    public var description: String {
        "dateOfBirth in the configuration of workouts isn't a date; write it as 1986-05-17"
    }
}
