/// Limits beyond which a sample of a type can't be true, so that it is put in quarantine and not counted; made once for
/// each type and applied to every sample.
///
/// Lenient on purpose: only the impossible is set aside. `docs/figures.md` lists the limits.
package struct PlausibilityLimit: Sendable, Equatable {
    /// The lowest and the highest value, in the canonical unit.
    package let values: ClosedRange<Double>
    /// The highest value per second; infinite when there is no limit.
    package internal(set) var perSecond = Double.infinity
    /// Whether a number is required: true for quantities; of anything else the value may be unknown.
    package internal(set) var needsNumber = true
    /// In µs; samples that began before HealthKit had limits may last a year.
    package internal(set) var longest = 35 * SampleTimes.day
    /// Whether a sample may be ongoing, without an end yet.
    package internal(set) var mayGoOn = false

    /// The reason, without values; nil for a sample within the limits.
    /// - Parameter now: when the sample was received; nil when unknown.
    package func reason(value: Double, start: Instant, end: Instant, now: Instant? = nil) -> String? {
        reason(start: start, end: end, now: now) ?? reason(value: value, start: start, end: end)
    }

    private func reason(start: Instant, end: Instant, now: Instant?) -> String? {
        if start > end { return "the end is before the start" }
        let latest = SampleTimes.latest(now: now)
        if start < SampleTimes.earliest { return "it starts before anything was measured" }
        if start > latest { return "it starts in the future" }
        if mayGoOn, end == SampleTimes.goesOn { return nil }
        if end > latest { return "it ends in the future" }
        let limit = start < SampleTimes.restricted ? max(longest, 366 * SampleTimes.day) : longest
        return end.microseconds - start.microseconds <= limit ? nil : "it lasts longer than a sample of its type can"
    }

    /// Why the number can't be true, whatever the times are.
    ///
    /// A rate can be checked only over a stretch of time. Some sources add up several minutes but give only the last
    /// few seconds as the sample's time. So a sample shorter than ten minutes is checked against the limit for ten
    /// minutes, and a sample without duration (a day's steps typed in by hand) against the limit for a whole day.
    package func reason(value: Double, start: Instant, end: Instant) -> String? {
        guard needsNumber else { return nil }
        guard value.isFinite else { return "the value isn't a finite number" }
        guard value >= values.lowerBound else {
            return values.lowerBound == 0
                ? "the value is negative" : "the value is below what is plausible for its type"
        }
        guard value <= values.upperBound else { return "the value is above what is plausible for its type" }
        guard perSecond < .infinity else { return nil }
        // Computed in doubles, because the difference between two absurd instants may not fit an integer.
        let seconds =
            start == end ? 86_400 : max(600, (Double(end.microseconds) - Double(start.microseconds)) / 1_000_000)
        return value <= perSecond * seconds ? nil : "the value is more than its duration can hold"
    }
}

/// Limits for a workout's totals.
package enum WorkoutLimit {
    /// The longest duration, µs: HealthKit refuses longer workouts.
    package static let longest = 4 * SampleTimes.day

    /// The limits for a workout's total of this type; only their `reason(value:start:end:)` is meaningful, with the
    /// workout's own times.
    package static func of(_ type: HealthType) -> PlausibilityLimit {
        let own = PlausibilityLimit.of(type)
        guard own.needsNumber, type.style == .cumulative else { return own }
        switch type.unit {
        // Half the speed of sound: a workout's distance may be that of a vehicle.
        case "m": return PlausibilityLimit(values: own.values, perSecond: 170)
        case "kcal": return PlausibilityLimit(values: own.values, perSecond: 40.0 / 60)
        case "count": return PlausibilityLimit(values: own.values, perSecond: 5)
        default: return own
        }
    }
}
