import HealthModel
import StepsStage
import Testing

@Suite struct StepsHandlerTests {
    private static let quantity = "HKQuantityTypeIdentifier"

    @Test func stepsAcrossMidnightAreSplit() throws {
        var day = try DayBuilder()
        try day.add(Self.quantity + "StepCount", "2025-05-31T23:50:00+02:00", "2025-06-01T00:10:00+02:00", 100)
        try day.add(Self.quantity + "StepCount", "2025-06-01T08:00:00+02:00", "2025-06-01T09:30:00+02:00", 900)
        try day.add(
            Self.quantity + "StepCount", "2025-06-01T08:00:00+02:00", "2025-06-01T09:30:00+02:00", 700, source: "iPhone"
        )
        let output = try day.compute(StepsHandler())
        #expect(output.figures == ["steps": 950.0])
        let hours = try #require(output.hourly["steps"]?.array)
        #expect(hours.count == 24)
        #expect(hours[0] == 50.0 && hours[8] == 600.0 && hours[9] == 300.0 && hours[10] == .null)

        day.configuration = ["sourceOrder": [.init(stringLiteral: Self.quantity + "StepCount"): ["iPhone"]]]
        #expect(try day.compute(StepsHandler()).figures == ["steps": 750.0])
    }

    @Test func hoursFollowTheClock() throws {
        var day = try DayBuilder("2025-10-26")
        try day.add(Self.quantity + "FlightsClimbed", "2025-10-26T02:30:00+01:00", nil, 3)
        let hours = try #require(try day.compute(StepsHandler()).hourly["flightsClimbed"]?.array)
        #expect(hours.count == 25 && hours[3] == 3.0)
    }
}
