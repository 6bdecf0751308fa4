/// Limits beyond which a sample can't be true, so that it is kept apart instead of counted.
///
/// Lenient by intent: only what can't be is refused. Sources of the numbers: the sensors' ranges and human physiology.
public enum Plausibility {
    /// Why this sample can't be true, without its value; nil when it may be.
    public static func reason(type: HealthType, value: Double, start: Instant, end: Instant) -> String? {
        PlausibilityLimit.of(type).reason(value: value, start: start, end: end)
    }
}

/// The limits of one type, made once and asked for every sample.
public struct PlausibilityLimit: Sendable, Equatable {
    /// Lowest and highest value, canonical unit.
    public let values: ClosedRange<Double>
    /// Highest value a second; infinite when there is no limit.
    public let perSecond: Double
    /// Whether a number must be there: true for quantities.
    public let needsNumber: Bool

    /// - Parameter needsNumber: false for categories, correlations and workouts, whose value may be unknown.
    public init(values: ClosedRange<Double>, perSecond: Double = .infinity, needsNumber: Bool = true) {
        self.values = values
        self.perSecond = perSecond
        self.needsNumber = needsNumber
    }

    /// The reason, without values; nil for a sample within the limits.
    ///
    /// A rate needs a time that it holds for. Exports round times to seconds, so what is shorter than a minute is held against a
    /// minute's limit; a sample without duration (a day's steps typed in by hand) against a whole day's.
    public func reason(value: Double, start: Instant, end: Instant) -> String? {
        if start > end { return "the end is before the start" }
        guard needsNumber else { return nil }
        guard value.isFinite else { return "the value isn't a finite number" }
        guard value >= values.lowerBound else {
            return values.lowerBound == 0
                ? "the value is negative" : "the value is below what is plausible for its type"
        }
        guard value <= values.upperBound else { return "the value is above what is plausible for its type" }
        guard perSecond < .infinity else { return nil }
        // Doubles: the difference of two wild instants may not fit an integer.
        let seconds = start == end ? 86_400 : max(60, (Double(end) - Double(start)) / 1_000_000)
        return value <= perSecond * seconds ? nil : "the value is more than its duration can hold"
    }
}

extension PlausibilityLimit {
    public static func of(_ type: HealthType) -> PlausibilityLimit {
        if let limit = table[type.identifier] { return limit }
        guard type.kind == .quantity else { return PlausibilityLimit(values: unlimited, needsNumber: false) }
        // Below zero only temperatures, sound levels, and types whose meaning isn't known.
        let mayBeNegative = ["degC", "dBASPL", ""].contains(type.unit)
        return PlausibilityLimit(values: mayBeNegative ? unlimited : 0...(.infinity))
    }

    private static let unlimited = -Double.infinity...Double.infinity

    private static let table: [String: PlausibilityLimit] = {
        let limits: [(String, PlausibilityLimit)] = [
            ("HeartRate", PlausibilityLimit(values: 20...250)),
            ("RestingHeartRate", PlausibilityLimit(values: 25...150)),
            ("HeartRateVariabilitySDNN", PlausibilityLimit(values: 0...500)),
            ("StepCount", PlausibilityLimit(values: 0...(.infinity), perSecond: 5)),
            ("DistanceWalkingRunning", PlausibilityLimit(values: 0...(.infinity), perSecond: 12)),
            ("ActiveEnergyBurned", PlausibilityLimit(values: 0...(.infinity), perSecond: 40.0 / 60)),
            // The lower limit of a day's resting energy can't be told of one sample, which may be any part of the day.
            ("BasalEnergyBurned", PlausibilityLimit(values: 0...(.infinity), perSecond: 5000.0 / 86_400)),
            ("BodyMass", PlausibilityLimit(values: 1...650)),
            ("LeanBodyMass", PlausibilityLimit(values: 1...650)),
            ("Height", PlausibilityLimit(values: 0.3...2.8)),
            ("OxygenSaturation", PlausibilityLimit(values: 0...1)),
            ("BodyFatPercentage", PlausibilityLimit(values: 0...1)),
        ]
        return Dictionary(
            limits.map { (HealthType.quantityPrefix + $0.0, $0.1) }, uniquingKeysWith: { first, _ in first })
    }()
}
