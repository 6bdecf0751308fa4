import HealthModel

/// Heart rate during a workout.
struct WorkoutHeart {
    /// `{average, minimum, maximum}`, in beats per minute; null when unknown.
    let rate: Value
    /// Null if the zones' limits or the heart rate are unknown.
    let zones: Value
    /// The origin of `rate`.
    let origin: WorkoutOrigin

    static let none = WorkoutHeart(rate: .null, zones: .null, origin: .unknown)
    private static let type = "HKQuantityTypeIdentifierHeartRate"

    private init(rate: Value, zones: Value, origin: WorkoutOrigin) {
        (self.rate, self.zones, self.origin) = (rate, zones, origin)
    }

    /// - Parameters:
    ///   - rows: the day's heart-rate samples, in canonical order.
    ///   - sourceName: the workout's own source, which has priority.
    init(of workout: WorkoutBody, sourceName: String, _ samples: SamplePage, rows: [Int], zones: HeartRateZones?) {
        let span = workout.start..<workout.end
        let during = rows.filter { span.contains(samples.startOf($0)) }
        let order = SourceOrder([sourceName])
        let statistic = workout.statistic(Self.type)
        if ["average", "minimum", "maximum"].contains(where: { !statistic[$0].isNull }) {
            rate = Self.rate(statistic["average"], statistic["minimum"], statistic["maximum"])
            origin = .statistic
        } else if !during.isEmpty {
            let own = DiscreteStatistics(
                samples, rows: during, style: .temporallyWeighted, order: order, in: [span])
            rate = Self.rate(Value(own.average), Value(own.minimum), Value(own.maximum))
            origin = .samples(during.count)
        } else {
            rate = .null
            origin = .unknown
        }
        guard let zones, !during.isEmpty else {
            self.zones = .null
            return
        }
        self.zones = zones.value(
            of: HeldSamples(
                samples, rows: during, order: order, hold: HeldSamples.longest, within: workout.active))
    }

    private static func rate(_ average: Value, _ minimum: Value, _ maximum: Value) -> Value {
        ["average": average, "minimum": minimum, "maximum": maximum]
    }
}
