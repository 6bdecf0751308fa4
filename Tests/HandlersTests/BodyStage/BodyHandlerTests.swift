import BodyStage
import HealthModel
import Testing

@Suite struct BodyHandlerTests {
    private static let quantity = "HKQuantityTypeIdentifier"

    @Test func bodyHasTheDaysLatestAndItsMean() throws {
        var day = try DayBuilder()
        try day.add(Self.quantity + "BodyMass", "2025-05-31T21:00:00+02:00", nil, 90)
        try day.add(Self.quantity + "BodyMass", "2025-06-01T07:00:00+02:00", nil, 70.5)
        try day.add(Self.quantity + "Height", "2025-06-01T07:30:00+02:00", nil, 1.75)
        try day.add(Self.quantity + "BodyMassIndex", "2025-06-01T08:00:00+02:00", nil, 23)
        try day.add(Self.quantity + "BodyMassIndex", "2025-06-01T09:00:00+02:00", nil, 22)
        try day.add(Self.quantity + "BodyFatPercentage", "2025-06-01T10:00:00+02:00", nil, 0.25)
        try day.add(Self.quantity + "BodyMass", "2025-06-01T21:00:00+02:00", nil, 71.5)
        #expect(
            try day.compute(BodyHandler()).figures == [
                "bodyMassKilograms": 71.5, "bodyMassMeanKilograms": 71.0, "heightMeters": 1.75,
                "heightMeanMeters": 1.75, "bodyMassIndex": 22.0, "bodyMassIndexMean": 22.5, "bodyFatFraction": 0.25,
                "bodyFatMeanFraction": 0.25,
            ])
    }
}
