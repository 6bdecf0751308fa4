import HealthModel
import TestSupport
import Testing

@Suite struct PlausibilityTests {
    static let minute = Duration.seconds(60)

    static func reason(_ name: String, _ value: Double, length: Duration) -> String? {
        PlausibilityLimit.of(HealthType.named("HK" + name))
            .reason(value: value, start: .epoch, end: .epoch + length, now: nil)
    }

    @Test(
        arguments: [
            ("QuantityTypeIdentifierHeartRate", 20, .zero), ("QuantityTypeIdentifierHeartRate", 250, .zero),
            ("QuantityTypeIdentifierStepCount", 300, minute),
            ("QuantityTypeIdentifierStepCount", 426, .seconds(5)),
            ("QuantityTypeIdentifierStepCount", 20_000, .zero), ("QuantityTypeIdentifierStepCount", 0, minute),
            ("QuantityTypeIdentifierDistanceWalkingRunning", 720, minute),
            ("QuantityTypeIdentifierActiveEnergyBurned", 40, minute),
            ("QuantityTypeIdentifierBodyTemperature", -1, .zero),
            ("QuantityTypeIdentifierWaterTemperature", -273.15, .zero), ("QuantityTypeIdentifierOfTomorrow", -1, .zero),
            ("CategoryTypeIdentifierSleepAnalysis", .nan, minute), ("WorkoutTypeIdentifier", .nan, minute),
        ] as [(String, Double, Duration)])
    func allows(type: String, value: Double, length: Duration) {
        #expect(Self.reason(type, value, length: length) == nil)
    }

    @Test(
        arguments: [
            ("QuantityTypeIdentifierHeartRate", 19.9, .zero), ("QuantityTypeIdentifierHeartRate", 251, .zero),
            ("QuantityTypeIdentifierRestingHeartRate", 151, .zero),
            ("QuantityTypeIdentifierHeartRateVariabilitySDNN", 501, .zero),
            ("QuantityTypeIdentifierStepCount", -1, minute), ("QuantityTypeIdentifierStepCount", .nan, minute),
            ("QuantityTypeIdentifierStepCount", .infinity, minute),
            ("QuantityTypeIdentifierStepCount", 3001, 10 * minute),
            ("QuantityTypeIdentifierStepCount", 500_000, .zero),
            ("QuantityTypeIdentifierDistanceWalkingRunning", 7300, 10 * minute),
            ("QuantityTypeIdentifierActiveEnergyBurned", 401, 10 * minute),
            ("QuantityTypeIdentifierBasalEnergyBurned", 5001, .zero),
            ("QuantityTypeIdentifierBodyMass", 651, .zero), ("QuantityTypeIdentifierHeight", 0.2, .zero),
            ("QuantityTypeIdentifierBodyTemperature", -300, .zero),
            ("QuantityTypeIdentifierAppleSleepingWristTemperature", -273.2, .zero),
            ("QuantityTypeIdentifierDietarySugar", -1, .zero), ("QuantityTypeIdentifierOfTomorrow", .nan, .zero),
            ("CategoryTypeIdentifierSleepAnalysis", 0, .zero - minute),
            ("QuantityTypeIdentifierStepCount", 1, .zero - minute),
        ] as [(String, Double, Duration)])
    func refuses(type: String, value: Double, length: Duration) throws {
        let reason = try #require(Self.reason(type, value, length: length))
        #expect(!reason.contains { $0.isNumber })
    }

    @Test func extremeInstantsDoNotTrap() {
        let type = HealthType.named("HKQuantityTypeIdentifierStepCount")
        for (start, end) in [
            (Instant.distantPast, Instant.distantFuture), (.distantPast, .distantPast),
            (.distantFuture, .distantFuture),
            (.epoch, .distantFuture), (.distantPast, .epoch),
        ] {
            #expect(PlausibilityLimit.of(type).reason(value: 1, start: start, end: end, now: nil) != nil)
        }
    }

    static func instant(_ text: String) -> Instant { InstantText.parse(text + " 00:00:00 +0000") ?? .epoch }

    @Test(
        arguments: [
            // A value from childhood, entered by hand; the last day before HealthKit's limits; and the longest duration
            // allowed since then.
            ("QuantityTypeIdentifierBodyMass", "1931-05-01", "1931-05-01"),
            ("QuantityTypeIdentifierStepCount", "2018-01-01", "2018-12-31"),
            ("QuantityTypeIdentifierStepCount", "2025-03-01", "2025-03-05"),
            // A week of atrial fibrillation is one sample; so is a month of breathing.
            ("QuantityTypeIdentifierAtrialFibrillationBurden", "2025-03-02", "2025-03-09"),
            ("CategoryTypeIdentifierSleepApneaEvent", "2025-03-01", "2025-03-31"),
            ("CategoryTypeIdentifierContraceptive", "2015-03-01", "2025-02-01"),
            ("CategoryTypeIdentifierPregnancy", "2025-03-01", "4001-01-01"),
            ("CategoryTypeIdentifierOfTomorrow", "2025-01-01", "2025-12-31"),
            // A different zone, and a clock that is slightly wrong.
            ("QuantityTypeIdentifierStepCount", "2027-03-02", "2027-03-02"),
        ])
    func allows(type: String, start: String, end: String) {
        let reason = PlausibilityLimit.of(HealthType.named("HK" + type)).reason(
            value: 70, start: Self.instant(start), end: Self.instant(end), now: Self.instant("2027-03-01"))
        #expect(reason == nil)
    }

    @Test(
        arguments: [
            ("QuantityTypeIdentifierBodyMass", "1850-05-01", "1850-05-01"),
            ("QuantityTypeIdentifierBodyMass", "0001-01-01", "2025-05-01"),
            ("QuantityTypeIdentifierStepCount", "2025-03-30", "4001-01-01"),
            ("QuantityTypeIdentifierStepCount", "9999-03-30", "9999-03-30"),
            ("QuantityTypeIdentifierStepCount", "2027-03-03", "2027-03-03"),
            ("QuantityTypeIdentifierStepCount", "2027-02-28", "2027-03-03"),
            ("QuantityTypeIdentifierStepCount", "2025-03-01", "2025-03-06"),
            ("QuantityTypeIdentifierStepCount", "2012-01-01", "2018-12-31"),
            ("CategoryTypeIdentifierSleepAnalysis", "2025-03-01", "2025-03-06"),
            ("CategoryTypeIdentifierSleepAnalysis", "2025-03-01", "4001-01-01"),
            ("WorkoutTypeIdentifier", "2025-03-01", "2025-03-09"),
            ("CategoryTypeIdentifierPregnancy", "2025-03-01", "4002-01-01"),
            ("CategoryTypeIdentifierContraceptive", "2005-03-01", "2025-02-01"),
            ("CategoryTypeIdentifierOfTomorrow", "2023-01-01", "2025-12-31"),
        ])
    func refuses(type: String, start: String, end: String) throws {
        let reason = PlausibilityLimit.of(HealthType.named("HK" + type)).reason(
            value: 1, start: Self.instant(start), end: Self.instant(end), now: Self.instant("2027-03-01"))
        #expect(try !#require(reason).contains { $0.isNumber })
    }

    /// A machine without its own clock starts in 1970: its imports aren't from the future.
    @Test func aClockThatIsNotSetSaysNothing() {
        let start = Self.instant("2025-03-30")
        let type = HealthType.named("HKQuantityTypeIdentifierStepCount")
        #expect(PlausibilityLimit.of(type).reason(value: 1, start: start, end: start, now: .epoch) == nil)
    }

    @Test func whatGoesOnCountsWhenItBegan() {
        #expect(SampleTimes.countedEnd(start: 5, duration: 7) == 12)
        #expect(SampleTimes.countedEnd(start: 5, duration: SampleTimes.goesOn.microseconds) == 5)
        #expect(SampleTimes.countedEnd(start: .min, duration: -1) == .min)
    }
}
