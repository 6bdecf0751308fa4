import HealthModel
import Testing

@Suite struct PlausibilityTests {
    static let minute = 60 * Instant.second

    static func reason(_ name: String, _ value: Double, length: Instant) -> String? {
        Plausibility.reason(type: HealthType.named("HK" + name), value: value, start: 0, end: length)
    }

    @Test(
        arguments: [
            ("QuantityTypeIdentifierHeartRate", 20, 0), ("QuantityTypeIdentifierHeartRate", 250, 0),
            ("QuantityTypeIdentifierStepCount", 300, minute),
            ("QuantityTypeIdentifierStepCount", 12, 2 * Instant.second),
            ("QuantityTypeIdentifierStepCount", 20_000, 0), ("QuantityTypeIdentifierStepCount", 0, minute),
            ("QuantityTypeIdentifierDistanceWalkingRunning", 720, minute),
            ("QuantityTypeIdentifierActiveEnergyBurned", 40, minute),
            ("QuantityTypeIdentifierBodyTemperature", -1, 0), ("QuantityTypeIdentifierOfTomorrow", -1, 0),
            ("CategoryTypeIdentifierSleepAnalysis", .nan, minute), ("WorkoutTypeIdentifier", .nan, minute),
        ] as [(String, Double, Instant)])
    func allows(type: String, value: Double, length: Instant) {
        #expect(Self.reason(type, value, length: length) == nil)
    }

    @Test(
        arguments: [
            ("QuantityTypeIdentifierHeartRate", 19.9, 0), ("QuantityTypeIdentifierHeartRate", 251, 0),
            ("QuantityTypeIdentifierRestingHeartRate", 151, 0),
            ("QuantityTypeIdentifierHeartRateVariabilitySDNN", 501, 0),
            ("QuantityTypeIdentifierStepCount", -1, minute), ("QuantityTypeIdentifierStepCount", .nan, minute),
            ("QuantityTypeIdentifierStepCount", .infinity, minute),
            ("QuantityTypeIdentifierStepCount", 3001, 10 * minute),
            ("QuantityTypeIdentifierStepCount", 500_000, 0),
            ("QuantityTypeIdentifierDistanceWalkingRunning", 7300, 10 * minute),
            ("QuantityTypeIdentifierActiveEnergyBurned", 401, 10 * minute),
            ("QuantityTypeIdentifierBasalEnergyBurned", 5001, 0),
            ("QuantityTypeIdentifierBodyMass", 651, 0), ("QuantityTypeIdentifierHeight", 0.2, 0),
            ("QuantityTypeIdentifierDietarySugar", -1, 0), ("QuantityTypeIdentifierOfTomorrow", .nan, 0),
            ("CategoryTypeIdentifierSleepAnalysis", 0, -minute), ("QuantityTypeIdentifierStepCount", 1, -minute),
        ] as [(String, Double, Instant)])
    func refuses(type: String, value: Double, length: Instant) throws {
        let reason = try #require(Self.reason(type, value, length: length))
        #expect(!reason.contains { $0.isNumber })
    }

    @Test func extremeInstantsDoNotTrap() {
        let type = HealthType.named("HKQuantityTypeIdentifierStepCount")
        #expect(Plausibility.reason(type: type, value: 1, start: .min, end: .max) == nil)
    }
}
