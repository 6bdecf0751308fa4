import EnergyStage
import GenericStage
import HealthModel
import StepsStage
import Testing

/// Days on which other apps wrote sums over many hours, with figures that can be worked out by hand.
@Suite struct LongSumDaysTests {
    private static let quantity = "HKQuantityTypeIdentifier"
    private static let category = "HKCategoryTypeIdentifier"

    /// A band's day beside an hour of the watch, on days of 23, 24 and 25 hours.
    @Test(arguments: [
        ("2025-03-30", "2025-03-30T00:00:00+01:00", "2025-03-31T00:00:00+02:00", 23.0),
        ("2025-06-01", "2025-06-01T00:00:00+02:00", "2025-06-02T00:00:00+02:00", 24),
        ("2025-10-26", "2025-10-26T00:00:00+02:00", "2025-10-27T00:00:00+01:00", 25),
    ])
    func aDaysSumBesideAWatch(_ date: String, _ start: String, _ end: String, _ hours: Double) throws {
        var day = try DayBuilder(date)
        try day.add(Self.quantity + "StepCount", start, end, 4000 + 10 * hours, source: "Band")
        try day.add(Self.quantity + "StepCount", date + "T10:00:00Z", date + "T11:00:00Z", 4000)
        try day.add(Self.quantity + "FlightsClimbed", start, end, 2, source: "Band")
        try day.add(Self.quantity + "FlightsClimbed", date + "T10:00:00Z", date + "T10:05:00Z", 5)
        try day.add(Self.quantity + "DistanceWalkingRunning", date + "T10:00:00Z", nil, 7000, source: "Ring")
        let output = try day.compute(StepsHandler())
        #expect(output.figures["steps"]?.double == 4000 + 10 * hours)
        #expect(output.figures["flightsClimbed"]?.double == 5)
        #expect(output.figures["distanceMeters"]?.double == 7000)
        let steps = try #require(output.hourly["steps"]?.array).map { $0.double ?? -1 }
        #expect(steps.count == Int(hours) && steps.allSatisfy { abs($0 - 10) < 1e-9 || abs($0 - 4010) < 1e-9 })
        let flights = try #require(output.hourly["flightsClimbed"]?.array)
        #expect(flights.filter { !$0.isNull } == [.number(5)])
    }

    @Test func energyAndTypesWithoutAHandler() throws {
        var day = try DayBuilder("2025-06-01")
        let (start, end) = ("2025-06-01T00:00:00+02:00", "2025-06-02T00:00:00+02:00")
        try day.add(Self.quantity + "ActiveEnergyBurned", start, end, 600, source: "Band")
        try day.add(Self.quantity + "AppleExerciseTime", start, end, 45, source: "Band")
        try day.add(Self.quantity + "PushCount", start, end, 700, source: "Band")
        try day.add(
            Self.quantity + "ActiveEnergyBurned", "2025-06-01T10:00:00+02:00", "2025-06-01T11:00:00+02:00", 400)
        try day.add(Self.quantity + "AppleExerciseTime", "2025-06-01T10:00:00+02:00", "2025-06-01T11:00:00+02:00", 60)
        try day.add(Self.quantity + "PushCount", "2025-06-01T10:00:00+02:00", "2025-06-01T11:00:00+02:00", 800)
        let energy = try day.compute(EnergyHandler()).figures
        #expect(energy["activeEnergyKilocalories"]?.double == 600 && energy["exerciseMinutes"]?.double == 60)
        #expect(
            try day.compute(GenericHandler()).figures["other"]?[Self.quantity + "PushCount"]
                == ["sum": 800.0, "count": 2, "unit": "count"])
    }

    /// A glass at a time, each by another app, and what the person's own types say.
    @Test func singleInstantsOfWhatIsDrunkAndOfOwnTypes() throws {
        var day = try DayBuilder("2025-06-01")
        try day.add(Self.quantity + "DietaryWater", "2025-06-01T08:00:00+02:00", nil, 300, source: "Bottle")
        try day.add(Self.quantity + "DietaryWater", "2025-06-01T09:00:00+02:00", nil, 250, source: "Diary")
        let water = try day.compute(GenericHandler()).figures["other"]?[Self.quantity + "DietaryWater"]
        #expect(water?["sum"].double == 550)
        try day.add("reading", "2025-06-01T10:00:00+02:00", "2025-06-01T16:00:00+02:00", 360, unit: "")
        try day.add("reading", "2025-06-01T18:00:00+02:00", nil, 20, unit: "")
        day.characteristics = ["ownTypes": ["reading": ["aggregation": "sum", "unit": ""]]]
        #expect(try day.compute(GenericHandler()).figures["other"]?["reading"]["sum"].double == 380)
    }

    /// A day's total by an app, sent as statistics of an hour and of the day.
    @Test func aDaysStatisticBesideASource() throws {
        var day = try DayBuilder("2025-06-01")
        let type = HealthType.statistics(of: Self.quantity + "StepCount")
        try day.add(type, "2025-06-01T00:00:00+02:00", "2025-06-02T00:00:00+02:00", 6000, source: "iPhone")
        try day.add(type, "2025-06-01T10:00:00+02:00", "2025-06-01T11:00:00+02:00", 4000)
        #expect(try day.compute(StepsHandler()).figures["steps"]?.double == 6000)
    }

    /// The note that a person may have sleep apnea looks back on thirty nights, and is one note.
    @Test(arguments: [
        "SleepApneaEvent", "HypertensionEvent", "LowCardioFitnessEvent", "IrregularHeartRhythmEvent",
        "HighHeartRateEvent", "LowHeartRateEvent", "HeadphoneAudioExposureEvent", "IrregularMenstrualCycles",
    ])
    func aNotificationHasNoMinutes(_ name: String) throws {
        for (date, expected) in [
            ("2025-05-31", nil), ("2025-06-01", ["count": 1]), ("2025-06-02", nil), ("2025-07-01", nil),
        ] as [(String, Value?)] {
            var day = try DayBuilder(date)
            try day.add(Self.category + name, "2025-06-01T22:00:00+02:00", "2025-07-01T07:00:00+02:00", 0)
            #expect(try day.compute(GenericHandler()).figures["other"]?[Self.category + name] == expected, "\(date)")
        }
    }
}
