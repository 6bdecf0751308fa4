import GenericStage
import HealthModel
import HeartRateStage
import Testing
import WorkoutsStage

/// Wherever heart rates are averaged, each counts for no more than the time it stands for.
@Suite struct AverageTests {
    private static let rate = "HKQuantityTypeIdentifierHeartRate"

    /// Instants every five minutes, from midnight on.
    private func day(of value: Double, hours: Int = 24) throws -> DayBuilder {
        var day = try DayBuilder()
        let midnight = try #require(InstantText.parse("2025-06-01T00:00:00+02:00"))
        for place in 0..<hours * 12 {
            let at = midnight + .seconds(300 * place)
            day.add(Self.rate, at, at, value)
        }
        return day
    }

    /// The mean of values, each with the seconds for which it counts.
    private func mean(_ parts: [(value: Double, seconds: Double)]) -> Double {
        parts.reduce(0) { $0 + $1.value * $1.seconds } / parts.reduce(0) { $0 + $1.seconds }
    }

    private func average(_ day: DayBuilder) throws -> Double? {
        try day.compute(HeartRateHandler()).figures["heartRate"]?["average"].double
    }

    @Test func oneSecondIsNoDay() throws {
        var day = try day(of: 72, hours: 23)
        try day.add(Self.rate, "2025-06-01T23:30:00+02:00", "2025-06-01T23:30:01+02:00", 171, source: "App")
        let output = try day.compute(HeartRateHandler())
        #expect(try average(day) == mean([(72, 276 * 60), (171, 61)]))
        #expect(output.hourly["heartRate"]?.array?[22] == 72.0 && output.hourly["heartRate"]?.array?[23] == 171.0)
    }

    @Test func twoHoursOfAnAppAreTwoHours() throws {
        var day = try day(of: 80, hours: 22)
        let statistics = HealthType.statistics(of: Self.rate)
        for hour in [22, 23] {
            let start = try #require(InstantText.parse("2025-06-01T\(hour):00:00+02:00"))
            day.add(statistics, start, start + .seconds(3600), 60, source: "Band")
        }
        #expect(try average(day) == mean([(80, 264 * 60), (60, 7200)]))
        #expect(try day.compute(HeartRateHandler()).hourly["heartRate"]?.array?[23] == 60.0)
    }

    /// The watch's readings count before the strap's, unless the person says otherwise.
    @Test func overlapsFollowTheOrderOfSources() throws {
        var day = try DayBuilder()
        try day.add(Self.rate, "2025-06-01T08:00:00+02:00", nil, 60)
        try day.add(Self.rate, "2025-06-01T08:00:30+02:00", nil, 90, source: "Strap")
        try day.add(Self.rate, "2025-06-01T09:00:00+02:00", nil, 60)
        #expect(try average(day) == mean([(60, 120), (90, 30)]))
        day.configuration = ["sourceOrder": [.init(stringLiteral: Self.rate): ["Strap"]]]
        #expect(try average(day) == mean([(60, 90), (90, 60)]))
    }

    @Test func aWorkoutsAverageIsOverItsTime() throws {
        var day = try DayBuilder()
        try day.add(
            HealthType.workoutIdentifier, "2025-06-01T10:00:00+02:00", "2025-06-01T10:30:00+02:00", .nan,
            payload: #"{"activity":"running"}"#)
        try day.add(Self.rate, "2025-06-01T10:00:00+02:00", nil, 100)
        try day.add(Self.rate, "2025-06-01T10:10:00+02:00", "2025-06-01T10:10:10+02:00", 120)
        // It goes on after the workout.
        try day.add(Self.rate, "2025-06-01T10:29:50+02:00", "2025-06-01T10:45:00+02:00", 180)
        let workout = try day.compute(WorkoutsHandler()).figures["workouts"]?.array?.first
        #expect(workout?["heartRate"]["average"] == .number(mean([(100, 60), (120, 70), (180, 10)])))
    }

    /// Types of any handler: by their style, whoever computes them.
    @Test func otherTypesFollowTheirStyle() throws {
        var day = try DayBuilder()
        let burden = "HKQuantityTypeIdentifierAtrialFibrillationBurden"
        let breath = "HKQuantityTypeIdentifierRespiratoryRate"
        for (type, scale) in [(burden, 0.01), (breath, 1)] {
            try day.add(type, "2025-06-01T08:00:00+02:00", nil, 10 * scale)
            try day.add(type, "2025-06-01T09:00:00+02:00", "2025-06-01T09:04:00+02:00", 22 * scale)
        }
        let other = try day.compute(GenericHandler()).figures["other"]
        let mean = try #require(other?[burden]["average"].double)
        #expect(abs(mean - 0.2) < 1e-15)
        #expect(other?[breath]["average"] == 16.0)
    }
}
