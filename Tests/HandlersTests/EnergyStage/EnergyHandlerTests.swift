import EnergyStage
import HealthModel
import Testing

@Suite struct EnergyHandlerTests {
    private static let quantity = "HKQuantityTypeIdentifier"
    private static let category = "HKCategoryTypeIdentifier"

    @Test func energyAndStandHours() throws {
        var day = try DayBuilder()
        try day.add(Self.category + "AppleStandHour", "2025-05-31T23:00:00+02:00", "2025-06-01T00:00:00+02:00", 0)
        try day.add(Self.category + "AppleStandHour", "2025-06-01T07:00:00+02:00", "2025-06-01T08:00:00+02:00", 1)
        try day.add(Self.category + "AppleStandHour", "2025-06-01T08:00:00+02:00", "2025-06-01T09:00:00+02:00", 0)
        try day.add(
            Self.category + "AppleStandHour", "2025-06-01T08:00:00+02:00", "2025-06-01T09:00:00+02:00", 0,
            source: "Other Watch")
        try day.add(Self.category + "AppleStandHour", "2025-06-01T09:00:00+02:00", "2025-06-01T10:00:00+02:00", 0)
        try day.add(Self.quantity + "ActiveEnergyBurned", "2025-06-01T10:00:00+02:00", "2025-06-01T10:01:00+02:00", 7.5)
        try day.add(Self.quantity + "BasalEnergyBurned", "2025-06-01T10:00:00+02:00", "2025-06-01T11:00:00+02:00", 70)
        try day.add(Self.quantity + "AppleExerciseTime", "2025-06-01T10:00:00+02:00", "2025-06-01T10:01:00+02:00", 1)
        #expect(
            try day.compute(EnergyHandler()).figures == [
                "activeEnergyKilocalories": 7.5, "basalEnergyKilocalories": 70.0, "exerciseMinutes": 1.0,
                "standHours": 2,
            ])
    }

    @Test func ringsThatCountMinutes() throws {
        var day = try DayBuilder()
        try day.add(Self.quantity + "AppleMoveTime", "2025-06-01T10:00:00+02:00", "2025-06-01T10:01:00+02:00", 1)
        try day.add(Self.quantity + "AppleStandTime", "2025-06-01T10:00:00+02:00", "2025-06-01T10:05:00+02:00", 5)
        try day.add(Self.quantity + "AppleStandTime", "2025-06-01T23:58:00+02:00", "2025-06-02T00:03:00+02:00", 5)
        #expect(try day.compute(EnergyHandler()).figures == ["moveMinutes": 1.0, "standMinutes": 7.0])
    }
}
