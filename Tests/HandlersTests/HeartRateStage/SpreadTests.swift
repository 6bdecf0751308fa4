import HealthModel
import HeartRateStage
import Testing

/// iOS 8 wrote the heart rates of an hour as one record with minimum, maximum and average.
@Suite struct SpreadTests {
    private static let type = "HKQuantityTypeIdentifierHeartRate"

    private func figures(_ payload: String) throws -> DayOutput {
        var day = try DayBuilder()
        try day.add(Self.type, "2025-06-01T06:00:00Z", "2025-06-01T08:00:00Z", 75, payload: payload)
        try day.add(Self.type, "2025-06-01T09:00:00Z", nil, 70)
        return try day.compute(HeartRateHandler())
    }

    @Test func minimumAndMaximumOfARecordAreTheDays() throws {
        let output = try figures(#"{"average":75,"maximum":120,"minimum":48}"#)
        #expect(output.figures["heartRate"]?["min"] == 48.0 && output.figures["heartRate"]?["max"] == 120.0)
        // The record stands for two hours and a minute, the instant for a minute.
        let average: Double = (75 * 121 + 70) / 122
        #expect(output.figures["heartRate"]?["average"] == .number(average))
        // They count in the hour in which the record starts, 08:00 in Berlin.
        #expect(output.hourly["heartRateMin"]?.array?[8] == 48.0 && output.hourly["heartRateMax"]?.array?[8] == 120.0)
        #expect(output.hourly["heartRateMax"]?.array?[11] == 70.0)
    }

    /// What an app summed up by hour. A slice has the payloads of those types only that the handler names.
    @Test func minimumAndMaximumOfAStatisticAreTheDays() throws {
        let statistics = HealthType.statistics(of: Self.type)
        let isWanted = HeartRateHandler().payloadTypes.contains(statistics)
        var day = try DayBuilder()
        try day.add(
            statistics, "2025-06-01T06:00:00Z", "2025-06-01T07:00:00Z", 75,
            payload: isWanted ? #"{"maximum":171,"minimum":52}"# : "")
        let output = try day.compute(HeartRateHandler())
        #expect(output.figures["heartRate"]?["min"] == 52.0 && output.figures["heartRate"]?["max"] == 171.0)
        #expect(output.figures["heartRate"]?["average"] == 75.0)
        #expect(output.hourly["heartRateMin"]?.array?[8] == 52.0 && output.hourly["heartRateMax"]?.array?[8] == 171.0)
    }

    @Test(arguments: [#"{"maximum":120}"#, #"{"maximum":60,"minimum":48}"#, "{", #"{"minimum":"x","maximum":5}"#])
    func whatIsNoSpreadChangesNothing(payload: String) throws {
        let output = try figures(payload)
        #expect(output.figures["heartRate"]?["min"] == 70.0 && output.figures["heartRate"]?["max"] == 75.0)
    }
}
