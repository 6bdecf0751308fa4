/// Which samples of cumulative types are sums that an app made of finer ones.
extension HealthType {
    /// Whether a sample that spans many hours is an app's sum over them. It is for every cumulative type except
    /// insulin, whose basal doses are delivered for hours.
    package var hasLongSums: Bool { style == .cumulative && identifier != Self.insulin }

    /// Whether devices count it all day long, as they count steps. If an app then has one instant on a day, that is its
    /// sum of the day. What a person eats, drinks, takes or suffers happens at instants, so these are false.
    package var isCountedAllDay: Bool {
        guard style == .cumulative, !Self.momentary.contains(identifier) else { return false }
        return !identifier.hasPrefix(Self.quantityPrefix + "Dietary")
    }

    private static let insulin = quantityPrefix + "InsulinDelivery"
    private static let momentary = Set(
        ["InsulinDelivery", "InhalerUsage", "NumberOfAlcoholicBeverages", "NumberOfTimesFallen"].map {
            quantityPrefix + $0
        })

    /// Whether samples of this category say that a device or the system noticed something in a span of up to months.
    /// Such a span is what was looked at: nothing lasted through it.
    public var isNotification: Bool { kind == .category && Self.notifications.contains(identifier) }

    private static let notifications = Set(
        """
        HighHeartRateEvent LowHeartRateEvent IrregularHeartRhythmEvent AudioExposureEvent
        EnvironmentalAudioExposureEvent HeadphoneAudioExposureEvent LowCardioFitnessEvent AppleWalkingSteadinessEvent
        SleepApneaEvent HypertensionEvent PersistentIntermenstrualBleeding ProlongedMenstrualPeriods
        IrregularMenstrualCycles InfrequentMenstrualCycles
        """.split(whereSeparator: \.isWhitespace).map { categoryPrefix + $0 })
}
