import HealthModel
import HeartRateStage
import Testing

@Suite struct HeartRateHandlerTests {
    private static let quantity = "HKQuantityTypeIdentifier"

    @Test func heartRate() throws {
        var day = try DayBuilder()
        try day.add(Self.quantity + "HeartRate", "2025-05-31T23:59:59+02:00", "2025-06-01T00:01:00+02:00", 200)
        try day.add(Self.quantity + "RestingHeartRate", "2025-06-01T00:00:00+02:00", nil, 58)
        try day.add(Self.quantity + "HeartRate", "2025-06-01T01:00:00+02:00", "2025-06-01T01:00:10+02:00", 60)
        try day.add(Self.quantity + "HeartRate", "2025-06-01T02:00:00+02:00", "2025-06-01T02:00:30+02:00", 100)
        try day.add(
            Self.quantity + "HeartRateVariabilitySDNN", "2025-06-01T03:00:00+02:00", "2025-06-01T03:01:00+02:00", 40)
        try day.add(
            Self.quantity + "HeartRateVariabilitySDNN", "2025-06-01T04:00:00+02:00", "2025-06-01T04:02:00+02:00", 50)
        try day.add(Self.quantity + "RestingHeartRate", "2025-06-01T05:00:00+02:00", nil, 56)
        let output = try day.compute(HeartRateHandler())
        // Each stands for a minute after its end: (70 s · 60 + 90 s · 100) / 160 s.
        #expect(output.figures["heartRate"] == ["min": 60.0, "max": 100.0, "average": 82.5, "resting": 56.0])
        #expect(output.figures["hrvSDNNMilliseconds"] == 45.0)
        #expect(output.hourly["heartRate"]?.array?[2] == 100.0)
        #expect(output.hourly.keys.sorted() == ["heartRate", "heartRateMax", "heartRateMin"])

        var resting = try DayBuilder()
        try resting.add(Self.quantity + "RestingHeartRate", "2025-06-01T05:00:00+02:00", nil, 56)
        #expect(
            try resting.compute(HeartRateHandler()).figures == [
                "heartRate": ["min": .null, "max": .null, "average": .null, "resting": 56.0]
            ])
    }
}
